// The answer of a webhook that was sent a review: the same kind, with its status filled in.
import { goQuote } from '../lib/go/quote.js';
import { apiVersionOf, type GroupVersionKind, parseApiVersion } from '../machinery/object.js';
import { typeOf } from './catalogue.js';
import { DecodeError, decodeTree, parseJsonTree } from './json/decode.js';
import { sentKind, unreadable } from './json/sent-kind.js';
import { parseYaml } from './yaml/parse.js';

/** Where kube-apiserver keeps the kinds its clients know: its refusals name the place. */
const SCHEME = goQuote('k8s.io/client-go/kubernetes/scheme/register.go:84');

/**
 * Throws a DecodeError. JSON and YAML are distinguished by how they begin, whatever the answer says it is. A missing
 * kind or version is that of the request; unknown fields are ignored.
 */
export function decodeAnswer(body: Buffer, wanted: GroupVersionKind): Record<string, unknown> {
  const tree = parse(body);
  const said = sentKind(tree);
  const kind = said.kind || wanted.kind;
  const apiVersion = said.apiVersion || apiVersionOf(wanted);
  const { group, version } = parseApiVersion(apiVersion);
  const type = typeOf(group, version, kind);
  if (type === undefined) {
    throw new DecodeError(
      `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme ${SCHEME}`,
    );
  }
  const { object } = decodeTree(type, tree ?? {}, { strict: false });
  if (kind === wanted.kind && version === wanted.version && group === wanted.group) return object;
  throw new DecodeError(`converting (${version}.${kind}) to (${wanted.version}.${wanted.kind}): unknown conversion`);
}

function parse(body: Buffer): unknown {
  if (!/^\s*\{/.test(body.subarray(0, MAX_BLANKS).toString('latin1'))) return parseYaml(body).value;
  try {
    return parseJsonTree(body).value;
  } catch (error) {
    throw error instanceof DecodeError ? unreadable(error.message) : error;
  }
}

/** More blanks before a brace than this, and it is read as YAML, which it is, too. */
const MAX_BLANKS = 1024;
