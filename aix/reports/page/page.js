// The page of a report: it draws the charts, and when a filter is set it writes figures and tables again.
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
  if (section.cut) section.caption = `Without ${grouped(section.cut)} more rows. ${section.caption}`;
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
  document.getElementById('narrowed').textContent = isNarrowed() ? 'What is marked \u201call data\u201d does not follow the filters.' : '';
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
  addEventListener('pageshow', read); // a browser that goes back may fill in what was chosen before
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
