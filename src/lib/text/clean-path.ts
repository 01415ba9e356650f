/** A path without empty and `.` parts, and `..` carried out; no slash at its end. Empty for no path at all. */
export function cleanPath(...paths: readonly string[]): string {
  const joined = paths.filter((path) => path !== '').join('/');
  if (joined === '') return '';
  const rooted = joined.startsWith('/');
  const kept: string[] = [];
  for (const part of joined.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!rooted) kept.push(part);
  }
  const clean = kept.join('/');
  return rooted ? `/${clean}` : clean || '.';
}
