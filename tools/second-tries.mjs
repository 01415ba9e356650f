// What passed only on a second try is kept in .cache/second-tries.json. The first time is forgiven, as machines pause; a
// name that comes again fails: it is a test to be mended. A test file that has changed since begins anew.
import crypto from 'node:crypto';
import fs from 'node:fs';

const FILE = '.cache/second-tries.json';

/** Records the names; returns those that were recorded before. */
export function recordSecondTries(names) {
  const before = readSecondTries();
  const again = names.filter((name) => name in before && before[name] === fingerprint(name));
  for (const name of names) before[name] = fingerprint(name);
  if (names.length > 0) fs.writeFileSync(FILE, `${JSON.stringify(before, null, 1)}\n`);
  for (const name of names) console.log(`passed only on a second try: ${name}`);
  for (const name of again) console.log(`not for the first time, so it fails: ${name} (see ${FILE})`);
  return again;
}

export function readSecondTries() {
  try {
    return JSON.parse(fs.readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}

function fingerprint(name) {
  return fs.existsSync(name)
    ? crypto.createHash('sha256').update(fs.readFileSync(name)).digest('hex').slice(0, 16)
    : '';
}
