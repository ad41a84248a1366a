// The charts of a report, drawn with the library Plot from rows as `rows.js` gives them.
const MOST_COLOURS = 8;
const COLOURS = ['#4269d0', '#efb118', '#ff725c', '#3ca951', '#a463f2', '#6cc5b0', '#ff8ab7', '#9c6b4e'];
const OTHER_COLOUR = '#9498a0';
// Words that have the same colour in every chart.
const WORDS = {
  high: '#d0392e', medium: '#e0a100', low: '#3b8ea5',
  normal: '#4269d0', compaction: '#a463f2', failed: '#d0392e', abandoned: '#9498a0', subagent: '#3ca951',
};
const OTHERS = 'others';
const WEEKDAYS = ['Mon', '', 'Wed', '', 'Fri', '', ''];
const DAY = 86400000;
const MOST_YEARS = 3;
const MOST_BARS = 20;

const isDark = matchMedia('(prefers-color-scheme: dark)');
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dateOf = (day) => new Date(`${day}T00:00:00Z`);
const dayOf = (date) => date.toISOString().slice(0, 10);
const weekday = (date) => (date.getUTCDay() + 6) % 7;
const ruler = document.createElement('canvas').getContext('2d');
ruler.font = '12px system-ui, sans-serif';
const widthOf = (label) => ruler.measureText(label).width + 14;

// The largest groups have colours of their own, which stay the same whatever is filtered.
const coloursOf = (section, all) => {
  const { color, x, y, kind } = section.chart;
  const amount = kind === 'ranking' ? x : y;
  const sums = new Map();
  for (const row of all) sums.set(row[color], (sums.get(row[color]) ?? 0) + (kind === 'tree' ? 1 : Math.abs(row[amount] ?? 0)));
  const names = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
  return names.slice(0, names.length > MOST_COLOURS ? MOST_COLOURS - 1 : MOST_COLOURS);
};
const shadeOf = (names, name) => {
  if (!names.length) return COLOURS[0];
  return names.includes(name) ? WORDS[name] ?? COLOURS[names.indexOf(name)] : OTHER_COLOUR;
};
const legendOf = (section, names, hasOthers) => {
  const entries = names.map((name) => [wordOf(section, section.chart.color, name), shadeOf(names, name)]);
  if (hasOthers) entries.push([OTHERS, OTHER_COLOUR]);
  return element('ul', { class: 'legend', 'aria-label': 'Colours' }, ...entries.map(([label, shade]) => {
    const mark = element('i');
    mark.style.background = shade;
    return element('li', {}, mark, label);
  }));
};

const bucketOf = (day, unit) => {
  const date = dateOf(day);
  if (unit === 'week') return new Date(date - weekday(date) * DAY);
  return unit === 'month' ? new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth())) : date;
};
const drawBars = (section, rows, width, names) => {
  const { x, y, color } = section.chart;
  const isTime = kindOf(section, x) === 'day';
  const isNumber = !isTime && kindOf(section, x) !== 'text';
  const known = rows.filter((row) => row[x] !== null && row[y] !== null);
  const days = isTime ? known.map((row) => row[x]).sort() : [];
  const age = days.length ? (dateOf(days.at(-1)) - dateOf(days[0])) / DAY : 0;
  const unit = age > 900 ? 'month' : age > 130 ? 'week' : 'day';
  const sums = new Map();
  for (const row of known) {
    const bucket = isTime ? bucketOf(row[x], unit) : isNumber ? row[x] : wordOf(section, x, row[x]);
    const name = !color ? '' : names.includes(row[color]) ? row[color] : OTHERS;
    const key = JSON.stringify([bucket, name]);
    const sum = sums.get(key) ?? { bucket, name, amount: 0 };
    sum.amount += row[y];
    sums.set(key, sum);
  }
  const bars = [...sums.values()];
  const shade = (bar) => shadeOf(names, bar.name);
  const order = (bar) => (bar.name === OTHERS ? names.length : names.indexOf(bar.name));
  const title = (bar) => [
    isTime ? `${unit === 'week' ? 'week of ' : ''}${dayOf(bar.bucket).slice(0, unit === 'month' ? 7 : 10)}` : bar.bucket,
    ...(color ? [bar.name === OTHERS ? OTHERS : wordOf(section, color, bar.name)] : []),
    written(kindOf(section, y), bar.amount),
  ].join('\n');
  if (unit !== 'day') section.caption = `Each bar is a ${unit}.`;
  const marks = { x: 'bucket', y: 'amount', fill: shade, title, tip: true, order };
  return Plot.plot({
    ...shape(width, 260),
    marginLeft: 52,
    x: isTime ? { type: 'utc', label: null } : { label: null },
    y: { grid: true, label: null, tickFormat: short(section, y), nice: true },
    marks: [
      isTime || isNumber ? Plot.rectY(bars, { ...marks, interval: isTime ? unit : 1 }) : Plot.barY(bars, marks),
      Plot.ruleY([0]),
    ],
  });
};
const drawRanking = (section, rows, width, names) => {
  const { x, y, color } = section.chart;
  const sums = new Map();
  for (const row of rows) {
    if (row[x] !== null) sums.set(row[y], (sums.get(row[y]) ?? 0) + row[x]);
  }
  const largest = [...sums.keys()].sort((a, b) => Math.abs(sums.get(b)) - Math.abs(sums.get(a))).slice(0, MOST_BARS);
  const best = largest.sort((a, b) => sums.get(b) - sums.get(a));
  sayHowMany(section, best.length, sums.size);
  const most = Math.min(width * 0.42, 220);
  const fitted = new Map(best.map((name) => [name, fit(wordOf(section, y, name), most)]));
  const left = Math.max(...[...fitted.values()].map(widthOf), 40);
  const shade = (row) => shadeOf(names, row[color]);
  const bars = rows.filter((row) => row[x] !== null && fitted.has(row[y]));
  const title = (row) => [
    wordOf(section, y, row[y]), ...(color ? [wordOf(section, color, row[color])] : []),
    written(kindOf(section, x), row[x]),
  ].join('\n');
  return Plot.plot({
    ...shape(width, 12 + 26 * best.length),
    marginTop: 4,
    marginBottom: 8,
    marginLeft: left,
    marginRight: Math.max(...best.map((name) => widthOf(written(kindOf(section, x), sums.get(name)))), 20),
    x: { axis: null },
    y: { domain: best, label: null, tickFormat: (name) => fitted.get(name), tickSize: 0 },
    marks: [
      Plot.barX(bars, { x, y, fill: shade, title, tip: true }),
      Plot.text(best, {
        x: (name) => Math.max(0, sums.get(name)), y: (name) => name, dx: 6, textAnchor: 'start', fill: 'currentColor',
        text: (name) => written(kindOf(section, x), sums.get(name)),
      }),
      Plot.ruleX([0]),
    ],
  });
};
const drawLine = (section, rows, width, names) => {
  const { x, y, color } = section.chart;
  const isTime = kindOf(section, x) === 'day';
  const points = rows.filter((row) => row[x] !== null && row[y] !== null)
    .map((row) => ({ at: isTime ? dateOf(row[x]) : row[x], row }));
  const shade = (point) => shadeOf(names, point.row[color]);
  const title = ({ row }) => [
    written(kindOf(section, x), row[x]), ...(color ? [wordOf(section, color, row[color])] : []),
    written(kindOf(section, y), row[y]),
  ].join('\n');
  const channels = { x: 'at', y: (point) => point.row[y], z: color ? (point) => point.row[color] : null };
  const { mark } = section.chart;
  const marked = mark ? points.filter((point) => point.row[mark]) : [];
  return Plot.plot({
    ...shape(width, 240),
    marginLeft: 52,
    x: isTime ? { type: 'utc', label: null } : { label: null, tickFormat: (number) => (number % 1 ? '' : String(number)) },
    y: { grid: true, label: null, tickFormat: short(section, y), nice: true, zero: true },
    marks: [
      Plot.ruleX(marked, { x: 'at', stroke: colour('--faint'), strokeDasharray: '4,3' }),
      Plot.lineY(points, { ...channels, stroke: shade, strokeWidth: 2 }),
      Plot.dot(points, { ...channels, fill: shade, r: points.length > 80 ? 1.5 : 3, title, tip: true }),
    ],
  });
};
const drawCalendar = (section, rows, width) => {
  const { x, y } = section.chart;
  const sums = new Map();
  for (const row of rows) {
    if (row[x] !== null && row[y] !== null) sums.set(row[x], (sums.get(row[x]) ?? 0) + row[y]);
  }
  const last = [...sums.keys()].sort().at(-1);
  const from = last ? `${Number(last.slice(0, 4)) - MOST_YEARS + 1}-01-01` : '';
  const days = [...sums].filter(([day]) => day >= from).map(([day, amount]) => {
    const date = dateOf(day);
    const first = new Date(Date.UTC(date.getUTCFullYear(), 0));
    const week = Math.floor(((date - first) / DAY + weekday(first)) / 7);
    return { day, amount, week, weekday: weekday(date), year: day.slice(0, 4) };
  });
  if (days.length < sums.size) section.caption = `The last ${MOST_YEARS} years.`;
  const years = [...new Set(days.map((each) => each.year))].sort();
  const months = years.flatMap((year) => Array.from({ length: 12 }, (_, month) => {
    const first = new Date(Date.UTC(Number(year), 0));
    const start = new Date(Date.UTC(Number(year), month));
    const name = start.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' });
    return { year, name, week: Math.floor(((start - first) / DAY + weekday(first)) / 7) };
  }));
  const title = (each) => `${each.day}\n${written(kindOf(section, y), each.amount)}`;
  const wide = Math.max(width, 640);
  return Plot.plot({
    ...shape(wide, 26 + ((7 * (wide - 86)) / 54 + 30) * years.length),
    marginTop: 26,
    marginLeft: 36,
    marginRight: 50,
    padding: 0,
    x: { axis: null, domain: Array.from({ length: 54 }, (_, week) => week) },
    y: { domain: [0, 1, 2, 3, 4, 5, 6], tickFormat: (number) => WEEKDAYS[number], tickSize: 0, label: null },
    fy: { label: null, domain: years, padding: 0.2 },
    color: { type: 'sqrt', range: [colour('--cold'), colour('--hot')] },
    marks: [
      Plot.cell(days, { x: 'week', y: 'weekday', fy: 'year', fill: 'amount', inset: 1, rx: 2, title, tip: true }),
      Plot.text(months, { x: 'week', fy: 'year', text: 'name', frameAnchor: 'top', dy: -12, textAnchor: 'start', fill: 'currentColor' }),
    ],
  });
};
const sayHowMany = (section, shown, all) => {
  if (shown < all) section.caption = `The ${shown} largest of ${grouped(all)}; the table has more.`;
};
// Names that are numbers stand in their order; others by alphabet, or as they are.
const inOrder = (names, isSorted) => {
  if (names.every((name) => name !== null && name !== '' && !Number.isNaN(Number(name)))) return names.sort((a, b) => a - b);
  return isSorted ? names.sort() : names;
};
const drawHeat = (section, rows, width) => {
  const { x, y, color } = section.chart;
  const cells = rows.filter((row) => row[color] !== null);
  const sums = new Map();
  for (const row of cells) sums.set(row[y], (sums.get(row[y]) ?? 0) + row[color]);
  const best = inOrder([...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a)).slice(0, MOST_BARS), false);
  sayHowMany(section, best.length, sums.size);
  const most = Math.min(width * 0.4, 200);
  const fitted = new Map(best.map((name) => [name, fit(wordOf(section, y, name), most)]));
  const drawn = cells.filter((row) => fitted.has(row[y]));
  const label = (row) => [wordOf(section, y, row[y]), wordOf(section, x, row[x]), written(kindOf(section, color), row[color])].join('\n');
  const largest = Math.max(...drawn.map((row) => row[color]), 1);
  const left = Math.max(...[...fitted.values()].map(widthOf), 40);
  const columns = inOrder([...new Set(drawn.map((row) => row[x]))], true);
  const heads = columns.map((name) => fit(wordOf(section, x, name), 180));
  const wide = Math.max(width, left + 20 + 58 * heads.length);
  const longest = Math.max(...heads.map(widthOf), 0);
  const isTilted = longest > (wide - left) / heads.length;
  const top = isTilted ? longest * 0.6 + 12 : 26;
  return Plot.plot({
    ...shape(wide, top + 16 + 26 * best.length),
    marginTop: top,
    marginBottom: 4,
    marginLeft: left,
    marginRight: isTilted ? Math.min(longest * 0.8, 120) : 20,
    padding: 0.05,
    x: {
      axis: 'top', domain: columns, label: null, tickFormat: (name) => fit(wordOf(section, x, name), 180), tickSize: 0,
      tickRotate: isTilted ? -36 : 0,
    },
    y: { domain: best, label: null, tickFormat: (name) => fitted.get(name), tickSize: 0 },
    color: { type: 'sqrt', range: [colour('--cold'), colour('--hot')] },
    marks: [
      Plot.cell(drawn, { x, y, fill: color, rx: 2, title: label, tip: true }),
      Plot.text(drawn, {
        x, y, text: (row) => written(kindOf(section, color), row[color]),
        fill: (row) => (row[color] > largest * 0.3 === isDark.matches ? '#16181c' : row[color] > largest * 0.3 ? '#fff' : colour('--text')),
      }),
    ],
  });
};
const drawSpan = (section, rows, width) => {
  const { x, to, y } = section.chart;
  const known = rows.filter((row) => row[x] !== null && row[to] !== null);
  const spans = known.slice(0, MOST_BARS);
  if (spans.length < known.length) section.caption = `The first ${spans.length} of ${grouped(known.length)}.`;
  const fitted = new Map(spans.map((row) => [row[y], fit(wordOf(section, y, row[y]), 160)]));
  const title = (row) => [
    wordOf(section, y, row[y]), `${written(kindOf(section, to), row[to])} \u2192 ${written(kindOf(section, x), row[x])}`,
  ].join('\n');
  return Plot.plot({
    ...shape(width, 40 + 26 * spans.length),
    marginTop: 4,
    marginLeft: Math.max(...[...fitted.values()].map(widthOf), 40),
    x: { grid: true, label: null, zero: true, nice: true, tickFormat: short(section, x) },
    y: { domain: [...fitted.keys()], label: null, tickFormat: (name) => fitted.get(name), tickSize: 0 },
    marks: [
      Plot.link(spans, { x1: x, x2: to, y1: y, y2: y, stroke: COLOURS[0], strokeWidth: 3 }),
      Plot.dot(spans, { x, y, fill: COLOURS[3], r: 5, title, tip: true }),
      Plot.dot(spans, { x: to, y, fill: COLOURS[2], r: 5, title, tip: true }),
    ],
  });
};
// Turns stand beside each other in the order in which they follow; each branch has a line of its own.
const drawTree = (section, rows, width, names) => {
  const { x, to, y, color } = section.chart;
  const nodes = new Map(rows.map((row) => [row[y], { row, children: [], size: 1, place: 0, lane: 0 }]));
  const roots = [];
  for (const node of nodes.values()) {
    const before = nodes.get(node.row[to]);
    if (before && before !== node) before.children.push(node);
    else roots.push(node);
  }
  const order = [];
  const waiting = [...roots];
  while (waiting.length) {
    const node = waiting.pop();
    order.push(node);
    for (const child of node.children) waiting.push(child);
  }
  for (const node of [...order].reverse()) for (const child of node.children) node.size += child.size;
  let lanes = 0;
  const next = roots.map((root, number) => [root, 0, number ? null : 0]).reverse();
  const links = [];
  while (next.length) {
    const [node, place, lane] = next.pop();
    node.place = place;
    if (lane === null) lanes += 1;
    node.lane = lane ?? lanes;
    const children = [...node.children].sort((a, b) => b.size - a.size);
    for (const child of [...children].reverse()) {
      next.push([child, place + 1, child === children[0] ? node.lane : null]);
      links.push([node, child]);
    }
  }
  const longest = Math.max(...order.map((node) => node.place), 1);
  const wide = Math.max(width, longest * 9 + 60);
  const title = ({ row }) => [
    wordOf(section, y, row[y]), ...(color ? [wordOf(section, color, row[color])] : []),
    ...(x && row[x] !== null ? [written(kindOf(section, x), row[x])] : []),
  ].join('\n');
  return Plot.plot({
    ...shape(wide, 40 + 16 * (lanes + 1)),
    marginTop: 12,
    marginBottom: 12,
    marginLeft: 20,
    marginRight: 20,
    x: { axis: null, domain: [0, longest] },
    y: { axis: null, domain: [Math.max(lanes, 1), 0] },
    marks: [
      Plot.link(links, {
        x1: ([one]) => one.place, y1: ([one]) => one.lane, x2: ([, other]) => other.place,
        y2: ([, other]) => other.lane, stroke: colour('--faint'), curve: 'bump-x',
      }),
      Plot.dot(order, {
        x: 'place', y: 'lane', r: longest > 150 ? 2.5 : 4, fill: (node) => shadeOf(names, node.row[color]), title, tip: true,
      }),
    ],
  });
};
const DRAW = { tree: drawTree, span: drawSpan, bars: drawBars, ranking: drawRanking, line: drawLine, calendar: drawCalendar, heat: drawHeat };
const shape = (width, height) => ({ className: 'plot', width, height, style: null });
const short = (section, name) => (value) => {
  const kind = kindOf(section, name);
  if (kind === 'money') return `$${value >= 1000 ? tokens(value) : Number(value.toFixed(2))}`;
  return kind === 'share' ? `${Math.round(value * 100)} %` : tokens(value);
};
const fit = (label, most) => {
  let shown = label;
  while (shown.length > 2 && widthOf(shown) > most) shown = `${shown.slice(0, -2)}\u2026`;
  return shown;
};
