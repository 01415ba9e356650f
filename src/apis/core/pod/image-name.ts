// Image references, as far as the server reads them: it must know whether one means the newest image.

const IDENTIFIER = /^[a-f0-9]{64}$/;
const DOMAIN =
  /^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/;
const REMAINDER =
  /^([a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)(?::(\w[\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$/;

/** True when the reference names the tag `latest`, or neither tag nor digest. A malformed one does not. */
export function meansLatestImage(image: string): boolean {
  if (IDENTIFIER.test(image)) return false;
  const slash = image.indexOf('/');
  const first = slash < 0 ? '' : image.slice(0, slash);
  const hasDomain = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  if (hasDomain && !DOMAIN.test(first)) return false;
  const match = REMAINDER.exec(hasDomain ? image.slice(slash + 1) : image);
  if (match === null) return false;
  const [, , tag, digest] = match;
  return tag === undefined ? digest === undefined : tag === 'latest';
}
