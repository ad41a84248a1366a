// The rows of a report: numbers in words, what the filters leave, groups and their sums.
// Numbers are written as aix/output/humanise.py writes them.
const page = JSON.parse(document.getElementById('data').textContent);
const FILTERS = ['project', 'model', 'origin'];
const UNKNOWN = '\u2013';

// Numbers in words. Python rounds a tie to the even digit; of doubles, only such with few binary digits are ties.
const rounded = (number, digits) => {
  const halves = number * 2 ** (digits + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0) return number.toFixed(digits);
  const below = Math.floor(number * 10 ** digits);
  return ((below % 2 ? below + 1 : below) / 10 ** digits).toFixed(digits);
};
const grouped = (count) => count.toLocaleString('en-US', { maximumFractionDigits: 0 });
const CENTS = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2, maximumFractionDigits: 2, roundingMode: 'halfEven',
});
const money = (amount) => {
  const size = Math.abs(Number(amount.toPrecision(15))); // without what adding up doubles leaves
  const sign = amount < 0 ? '-' : '';
  return size > 0 && size <= 0.005 ? `${sign}<$0.01` : `${sign}$${CENTS.format(size)}`;
};
const tokens = (count) => {
  const letters = ['', 'k', 'M', 'G', 'T', 'P'];
  let [size, place] = [Math.abs(count), 0];
  while (size >= 999.5 && place < letters.length - 1) {
    size /= 1000;
    place += 1;
  }
  return `${count < 0 ? '-' : ''}${rounded(size, letters[place] && size < 9.95 ? 1 : 0)}${letters[place]}`;
};
const share = (part) => {
  const percentage = part * 100;
  if (percentage > 0 && percentage < 0.05) return '<0.1 %';
  if (Math.abs(percentage) >= 999.5) return `${grouped(Number(rounded(part, 0)))}\u00d7`;
  return `${rounded(percentage, percentage === 0 || percentage === 100 ? 0 : 1)} %`;
};
const flag = (value) => (value ? 'yes' : 'no');
const WRITERS = { flag, money, tokens, share, count: grouped };
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
  name in section.kinds ? section.kinds[name] : page.tables[section.table].columns[name]?.kind ?? 'text';
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
