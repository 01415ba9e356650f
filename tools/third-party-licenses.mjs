// The licences of what others wrote and a bundle of ours contains, as one text.
import fs from 'node:fs';
import path from 'node:path';

const LICENSE_FILE = /^(?:licen[cs]e|copying|copyright|notice)(?:\.(?:md|txt))?$/i;

/** The folders in node_modules of the packages that a build's inputs come from. */
export function bundledPackages(inputs) {
  const folders = inputs.flatMap((input) => {
    const at = input.lastIndexOf('node_modules/');
    if (at < 0) return [];
    const words = input.slice(at + 'node_modules/'.length).split('/');
    return [input.slice(0, at) + path.join('node_modules', ...words.slice(0, words[0].startsWith('@') ? 2 : 1))];
  });
  return [...new Set(folders)].sort(compare);
}

/** Throws where a package does not say under which licence it is: such a one cannot be given to others. */
export function licensesText(folders) {
  const parts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    // What a native library is compiled from has its own, in folders below.
    const files = fs
      .readdirSync(folder, { recursive: true })
      .filter((file) => LICENSE_FILE.test(path.basename(file)) && !file.includes('node_modules/'));
    if (typeof license !== 'string') throw new Error(`${folder} names no licence`);
    const texts = files.sort(compare).map((file) => fs.readFileSync(path.join(folder, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  });
  const rule = `\n\n${'-'.repeat(72)}\n\n`;
  return `Binnacle contains these works of others, each under its own licence.${rule}${parts.join(rule)}\n`;
}

function compare(a, b) {
  return a < b ? -1 : 1;
}
