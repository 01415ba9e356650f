// Checks the links of every Markdown page that git knows: a relative link leads to a file or folder that is there, and
// what follows its # is a heading of that page.
//
//   node tools/check-links.mjs
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const LINK = /\]\(([^)\s]+)\)/g;
const ELSEWHERE = /^[a-z][a-z+.-]*:/;

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  encoding: 'utf8',
});
const pages = new Map();
for (const file of listed.split('\n')) if (file !== '' && fs.existsSync(file)) pages.set(file, prose(file));

const faults = [...pages].flatMap(([file, lines]) => lines.flatMap((line, at) => faultsIn(file, line, at + 1)));
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;

/** The lines of a page; what is code in them is blank, so that neither a link nor a heading is found there. */
function prose(file) {
  let isCode = false;
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  return lines.map((line) => {
    const isFence = line.trimStart().startsWith('```');
    if (isFence) isCode = !isCode;
    return isFence || isCode || line.startsWith('    ') ? '' : line;
  });
}

function faultsIn(file, line, number) {
  const found = [];
  for (const [, link] of withoutCode(line).matchAll(LINK)) {
    if (ELSEWHERE.test(link)) continue;
    const [target, anchor] = link.split('#');
    const leadsTo = target === '' ? file : path.join(path.dirname(file), target);
    if (!fs.existsSync(leadsTo)) found.push(`${file}:${number}: ${link}: there is no ${leadsTo}`);
    else if (anchor !== undefined && !anchorsOf(leadsTo).has(anchor)) {
      found.push(`${file}:${number}: ${link}: ${leadsTo} has no such heading`);
    }
  }
  return found;
}

function withoutCode(line) {
  return line.replace(/`[^`]*`/g, '');
}

/** As GitHub makes them: lower case, no punctuation, a hyphen for each space; the second of a name gets `-1`. */
function anchorsOf(file) {
  const anchors = new Set();
  for (const line of pages.get(file) ?? []) {
    const heading = /^#{1,6} +(.*)$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = text.replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    let anchor = slug;
    for (let again = 1; anchors.has(anchor); again++) anchor = `${slug}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
}
