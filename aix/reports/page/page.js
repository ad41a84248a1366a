// Draws the charts of a report, and writes its figures and tables again when a filter is set.
// Rows come from the element `data`; numbers are written as aix/output/humanise.py writes them.
(() => {
  const page = JSON.parse(document.getElementById('data').textContent);
  const FILTERS = ['project', 'model', 'origin'];
  const UNKNOWN = '\u2013';
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

  // Numbers in words.
  const grouped = (count) => count.toLocaleString('en-US', { maximumFractionDigits: 0 });
  const money = (amount) => {
    const size = Math.abs(amount);
    const sign = amount < 0 ? '-' : '';
    if (size > 0 && size <= 0.005) return `${sign}<$0.01`;
    return `${sign}$${size.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  };
  const tokens = (count) => {
    const letters = ['', 'k', 'M', 'G', 'T', 'P'];
    let [size, place] = [Math.abs(count), 0];
    while (size >= 999.5 && place < letters.length - 1) {
      size /= 1000;
      place += 1;
    }
    const digits = letters[place] && size < 9.95 ? 1 : 0;
    return `${count < 0 ? '-' : ''}${size.toFixed(digits)}${letters[place]}`;
  };
  const share = (part) => {
    const percentage = part * 100;
    if (percentage > 0 && percentage < 0.05) return '<0.1 %';
    if (Math.abs(percentage) >= 999.5) return `${grouped(part)}\u00d7`;
    return `${percentage.toFixed(percentage === 0 || percentage === 100 ? 0 : 1)} %`;
  };
  const rounded = (number) => (Math.abs(number) >= 100 ? grouped(number) : String(Number(number.toPrecision(3))));
  const flag = (value) => (value ? 'yes' : 'no');
  const WRITERS = { flag, money, tokens, share, count: grouped, number: rounded };
  const written = (kind, value) => (value === null ? UNKNOWN : WRITERS[kind] ? WRITERS[kind](value) : String(value));

  // Rows. A column has the values of all rows; of words, it has their places in a list.
  const valueAt = (column, row) => {
    if (column.values) return column.values[row];
    return column.codes[row] === null ? null : column.words[column.codes[row]];
  };
  const labelOf = (column, word) => {
    if (word === null) return 'unknown';
    return column.shown ? column.shown[column.words.indexOf(word)] : word;
  };
  const addUp = (column, rows) => {
    let sum = null;
    for (const row of rows) {
      const value = column.values[row];
      if (value !== null) sum = (sum ?? 0) + value;
    }
    return sum;
  };

  const form = document.getElementById('filters');
  const chosen = { since: '', until: '', project: '', model: '', origin: '' };
  const isNarrowed = () => Object.values(chosen).some((value) => value !== '');

  // Return the places of the rows that the filters leave; `=` stands before a chosen name, which may be empty.
  const rowsLeft = (table) => {
    const { columns } = table;
    const wanted = FILTERS.filter((name) => chosen[name] !== '').map((name) => {
      const word = chosen[name].slice(1);
      return [columns[name].codes, chosen[name] === '?' ? null : columns[name].words.indexOf(word)];
    });
    const left = [];
    for (let row = 0; row < table.rows; row += 1) {
      if (!wanted.every(([codes, code]) => codes[row] === code)) continue;
      if (chosen.since || chosen.until) {
        const day = valueAt(columns.day, row);
        if (day === null || (chosen.since && day < chosen.since) || (chosen.until && day > chosen.until)) continue;
      }
      left.push(row);
    }
    return left;
  };

  // Return the rows of a section as objects, grouped and ordered as the section says.
  const rowsOf = (section) => {
    const table = page.tables[section.table];
    const { columns } = table;
    if (!section.group) {
      const names = Object.keys(columns);
      return Array.from({ length: table.rows }, (_, row) =>
        Object.fromEntries(names.map((name) => [name, valueAt(columns[name], row)])));
    }
    const groups = new Map();
    for (const row of rowsLeft(table)) {
      const values = section.group.map((name) => valueAt(columns[name], row));
      const key = JSON.stringify(values);
      if (!groups.has(key)) groups.set(key, { values, rows: [] });
      groups.get(key).rows.push(row);
    }
    const found = [...groups.values()].map(({ values, rows }) => {
      const entry = Object.fromEntries(section.group.map((name, place) => [name, values[place]]));
      for (const name of section.add) entry[name] = addUp(columns[name], rows);
      for (const [name, [part, whole]] of Object.entries(section.shares)) {
        const [some, all] = [addUp(columns[part], rows), addUp(columns[whole], rows)];
        entry[name] = some === null || !all ? null : some / all;
      }
      return entry;
    });
    return ordered(found, section.order);
  };
  const ordered = (rows, order) => {
    if (!order) return rows;
    const [name, sign] = order.startsWith('-') ? [order.slice(1), -1] : [order, 1];
    const compare = (one, other) => {
      const [a, b] = [one[name], other[name]];
      if (a === null || b === null) return (a === null) - (b === null);
      return a < b ? -sign : a > b ? sign : 0;
    };
    return [...rows].sort(compare);
  };
  const kindOf = (section, name) =>
    name in section.shares ? 'share' : page.tables[section.table].columns[name]?.kind ?? 'text';
  const wordOf = (section, name, value) => {
    const column = page.tables[section.table].columns[name];
    return column && column.words ? labelOf(column, value) : written(kindOf(section, name), value);
  };

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  // Tables and figures.
  const fillTable = (section, place, rows) => {
    const body = place.querySelector('tbody');
    const cells = rows.slice(0, section.limit).map((row) =>
      element('tr', {}, ...section.columns.map((name, index) => {
        const text = row[name] === null ? section.missing[index] : wordOf(section, name, row[name]);
        const isNumber = !['text', 'day', 'flag'].includes(kindOf(section, name));
        return element('td', isNumber ? { class: 'number' } : {}, text);
      })));
    body.replaceChildren(...cells);
    const more = rows.length - cells.length;
    place.querySelector('.more').textContent = more ? `${grouped(more)} row${more === 1 ? '' : 's'} more` : '';
    place.querySelector('.none').hidden = rows.length > 0;
    place.querySelector('.rows').hidden = rows.length === 0;
  };
  const fillFigures = () => {
    document.querySelectorAll('.tiles b').forEach((place, number) => {
      const figure = page.figures[number];
      if (!figure) return;
      const table = page.tables[figure.table];
      const column = table.columns[figure.add];
      place.textContent = written(column.kind, addUp(column, rowsLeft(table)));
    });
  };

  // Charts.
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
    const best = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a)).slice(0, MOST_BARS);
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
  const drawHeat = (section, rows, width) => {
    const { x, y, color } = section.chart;
    const cells = rows.filter((row) => row[color] !== null);
    const sums = new Map();
    for (const row of cells) sums.set(row[y], (sums.get(row[y]) ?? 0) + row[color]);
    const best = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a)).slice(0, MOST_BARS);
    const most = Math.min(width * 0.4, 200);
    const fitted = new Map(best.map((name) => [name, fit(wordOf(section, y, name), most)]));
    const drawn = cells.filter((row) => fitted.has(row[y]));
    const label = (row) => [wordOf(section, y, row[y]), wordOf(section, x, row[x]), written(kindOf(section, color), row[color])].join('\n');
    const largest = Math.max(...drawn.map((row) => row[color]), 1);
    const left = Math.max(...[...fitted.values()].map(widthOf), 40);
    const heads = [...new Set(drawn.map((row) => row[x]))].map((name) => fit(wordOf(section, x, name), 180));
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
        axis: 'top', label: null, tickFormat: (name) => fit(wordOf(section, x, name), 180), tickSize: 0,
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
    const spans = rows.filter((row) => row[x] !== null && row[to] !== null).slice(0, MOST_BARS);
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

  const everyRow = page.sections.map((section) => (section && section.chart ? rowsOf(section) : null));
  const draw = (number, rows) => {
    const section = page.sections[number];
    const place = document.querySelector(`[data-section="${number}"] .chart`);
    if (!section || !section.chart || !place) return;
    place.replaceChildren();
    place.hidden = rows.length === 0;
    if (!rows.length) return;
    const names = section.chart.color && section.chart.kind !== 'heat' ? coloursOf(section, everyRow[number]) : [];
    const hasOthers = names.length && everyRow[number].some((row) => !names.includes(row[section.chart.color]));
    section.caption = '';
    const drawn = DRAW[section.chart.kind](section, rows, place.clientWidth || 700, names);
    const label = place.getAttribute('aria-label');
    const holder = element('div', { class: 'scrolling', tabindex: '0', role: 'region', 'aria-label': 'Chart' }, drawn);
    // The library labels groups of marks, which readers of one image do not reach.
    drawn.querySelectorAll('[aria-label]').forEach((each) => each.removeAttribute('aria-label'));
    drawn.setAttribute('role', 'img');
    drawn.setAttribute('aria-label', label);
    if (names.length) place.append(legendOf(section, names, hasOthers));
    place.append(holder);
    if (section.caption) place.append(element('figcaption', { class: 'caption' }, section.caption));
  };
  const current = [...everyRow];
  const drawAll = () => current.forEach((rows, number) => rows && draw(number, rows));

  const apply = () => {
    page.sections.forEach((section, number) => {
      if (!section || !section.filtered) return;
      const rows = rowsOf(section);
      if (current[number]) current[number] = rows;
      fillTable(section, document.querySelector(`[data-section="${number}"]`), rows);
    });
    fillFigures();
    drawAll();
    document.getElementById('narrowed').textContent = isNarrowed() ? 'Marked \u201call data\u201d: not narrowed.' : '';
  };

  // The choices of the filters: every name of a column, with the words in which the tables show it.
  const offer = () => {
    const tables = [...page.figures, ...page.sections].filter((each) => each && each.filtered !== false)
      .map((each) => page.tables[each.table]);
    for (const name of FILTERS) {
      const words = new Map();
      let hasUnknown = false;
      for (const { columns } of tables) {
        for (const word of columns[name].words) {
          if (!words.has(word) || columns[name].shown) words.set(word, labelOf(columns[name], word));
        }
        hasUnknown ||= columns[name].codes.includes(null);
      }
      const options = [...words].sort((a, b) => (a[1] < b[1] ? -1 : 1)).map(([word, label]) => element('option', { value: `=${word}` }, label));
      if (hasUnknown) options.push(element('option', { value: '?' }, 'unknown'));
      form.elements[name].append(...options);
    }
    const days = tables.flatMap(({ columns }) => columns.day.words).sort();
    for (const name of ['since', 'until']) {
      if (days.length) [form.elements[name].min, form.elements[name].max] = [days[0], days.at(-1)];
    }
  };
  if (form) {
    offer();
    const read = () => {
      for (const name of Object.keys(chosen)) chosen[name] = form.elements[name].value;
      apply();
    };
    form.addEventListener('input', read);
    form.addEventListener('reset', () => setTimeout(read));
    form.addEventListener('submit', (event) => event.preventDefault());
    form.hidden = false;
  }
  drawAll();
  isDark.addEventListener('change', drawAll);
  let [wait, width] = [0, document.body.clientWidth];
  addEventListener('resize', () => {
    clearTimeout(wait);
    wait = setTimeout(() => {
      if (document.body.clientWidth === width) return;
      width = document.body.clientWidth;
      drawAll();
    }, 150);
  });
})();
