// Image references, as far as the server reads them: it must know whether one means the newest image.

const IDENTIFIER = /^[a-f0-9]{64}$/;
const DOMAIN =
  /^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/;
const PATH = /^[a-z0-9]+(?:(?:[._/]|__|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
/** Of a repository's name, with the folder that the library's names are in. */
const MAX_NAME_LENGTH = 255;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;

/** True when kube-apiserver names the tag `latest`, or neither tag nor digest. A malformed one does not. */
export function meansLatestImage(image: string): boolean {
  if (IDENTIFIER.test(image)) return false;
  const slash = image.indexOf('/');
  const first = slash < 0 ? '' : image.slice(0, slash);
  const hasDomain = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  if (hasDomain && !DOMAIN.test(first)) return false;
  const { path, tag, digest } = splitReference(hasDomain ? image.slice(slash + 1) : image);
  if (!PATH.test(path)) return false;
  const isLibrary = !path.includes('/') && (!hasDomain || first === 'docker.io' || first === 'index.docker.io');
  if (path.length + (isLibrary ? 'library/'.length : 0) > MAX_NAME_LENGTH) return false;
  if ((tag !== undefined && !TAG.test(tag)) || (digest !== undefined && !DIGEST.test(digest))) return false;
  return tag === undefined ? digest === undefined : tag === 'latest';
}

interface Reference {
  readonly path: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** `path:tag@digest`: the digest has a colon too, the path and the tag have none of these signs. */
function splitReference(text: string): Reference {
  const at = text.indexOf('@');
  const named = at < 0 ? text : text.slice(0, at);
  const colon = named.indexOf(':');
  return {
    path: colon < 0 ? named : named.slice(0, colon),
    tag: colon < 0 ? undefined : named.slice(colon + 1),
    digest: at < 0 ? undefined : text.slice(at + 1),
  };
}
