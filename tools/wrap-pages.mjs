// Wraps the prose of all pages, so that changes of them read well. Tables, code and headings stay as they are.
//
//   node tools/wrap-pages.mjs            writes the pages
//   node tools/wrap-pages.mjs --check    names those that are not wrapped so
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

const MAX_COLUMNS = 120;
/** Made from the program's tables. */
const GENERATED = ['docs/reference/flags.md', 'docs/reference/feature-gates.md'];

const isCheck = process.argv.includes('--check');
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  encoding: 'utf8',
});
for (const file of listed.split('\n').filter((name) => name !== '' && !GENERATED.includes(name))) {
  if (!fs.existsSync(file)) continue;
  const page = fs.readFileSync(file, 'utf8');
  const wrapped = wrapPage(page);
  if (wrapped === page) continue;
  if (isCheck) {
    console.error(`${file}: not wrapped at ${MAX_COLUMNS} columns: run \`npm run format\``);
    process.exitCode = 1;
  } else fs.writeFileSync(file, wrapped);
}

function wrapPage(page) {
  const out = [];
  let paragraph;
  let isFenced = false;
  /** How far what belongs to the list item at hand is indented. */
  let indent = 0;
  const end = () => {
    if (paragraph !== undefined) out.push(...wrapParagraph(paragraph));
    paragraph = undefined;
  };
  for (const line of page.split('\n')) {
    const [, spaces, mark = ''] = /^( *)((?:[-*]|\d+\.) +)?/.exec(line);
    const isFence = line.trimStart().startsWith('```');
    if (isFence || isFenced) {
      end();
      out.push(line);
      if (isFence) isFenced = !isFenced;
    } else if (line.trim() === '' || /^ *(?:\||#|<|---)/.test(line)) {
      end();
      if (line.trim() !== '') indent = 0;
      out.push(line);
    } else if (paragraph === undefined && spaces.length >= indent + 4) {
      out.push(line);
    } else if (mark !== '') {
      end();
      indent = spaces.length + mark.length;
      paragraph = { first: spaces + mark, rest: ' '.repeat(indent), text: line.slice(indent).trim() };
    } else if (paragraph !== undefined) {
      paragraph.text += ` ${line.trim()}`;
    } else {
      if (spaces.length === 0) indent = 0;
      paragraph = { first: spaces, rest: spaces, text: line.trim() };
    }
  }
  end();
  return out.join('\n');
}

function wrapParagraph({ first, rest, text }) {
  const lines = [];
  let line = first;
  let isEmpty = true;
  for (const word of wordsOf(text)) {
    // At the beginning of a line these would begin a list, a heading or a quotation.
    const isMark = /^(?:[-+*>|]|#+|\d+\.)$/.test(word);
    if (!isEmpty && !isMark && line.length + 1 + word.length > MAX_COLUMNS) {
      lines.push(line);
      line = rest;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}

/** Code with spaces in it is one word. */
function wordsOf(text) {
  const words = [];
  let open;
  for (const word of text.split(/ +/)) {
    open = open === undefined ? word : `${open} ${word}`;
    if (open.split('`').length % 2 === 0) continue;
    words.push(open);
    open = undefined;
  }
  return open === undefined ? words : [...words, ...open.split(' ')];
}
