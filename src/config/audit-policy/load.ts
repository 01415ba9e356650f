// `--audit-policy-file`. Alone among the configuration files it is read leniently, as in kube-apiserver: fields nobody
// knows are logged and ignored.
import { readTextFile } from '../../lib/go/file-error.js';
import { goQuote } from '../../lib/go/quote.js';
import { aggregateText, fieldErrorText } from '../../machinery/field-error.js';
import { AUDIT_GROUP_VERSION } from '../../machinery/names.js';
import { apiVersionFault, parseApiVersion } from '../../machinery/object.js';
import { sentKind } from '../../schema/json/sent-kind.js';
import { typeOf } from '../../schema/catalogue.js';
import type { Policy } from '../../schema/generated/audit.v1.js';
import { DecodeError } from '../../schema/json/decode.js';
import { decodeParsed, parseConfigText } from '../decode-config.js';
import { validateAuditPolicy } from './validate.js';

export type LoadedAuditPolicy =
  | { readonly ok: true; readonly policy: Policy; readonly strictErrors: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** What is wrong with the policy file of a server that is to start. */
export function auditPolicyError(file: string): string | undefined {
  const loaded = file === '' ? undefined : loadAuditPolicy(file);
  return loaded === undefined || loaded.ok ? undefined : loaded.error;
}

export function loadAuditPolicy(file: string): LoadedAuditPolicy {
  const read = readTextFile(file);
  if (!read.ok) return refused(`failed to read file path ${goQuote(file)}: ${read.error}`);
  const parsed = parseAuditPolicy(read.text);
  return parsed.ok ? parsed : refused(`${parsed.error}: from file ${file}`);
}

const refused = (error: string): LoadedAuditPolicy => ({ ok: false, error: `loading audit policy file: ${error}` });

export function parseAuditPolicy(text: string): LoadedAuditPolicy {
  const decoded = decode(text);
  if (!decoded.ok) return decoded;
  const errors = validateAuditPolicy(decoded.policy).map(fieldErrorText);
  if (errors.length > 0) return { ok: false, error: aggregateText(errors) };
  if ((decoded.policy.rules ?? []).length === 0) {
    return { ok: false, error: 'loaded illegal policy with 0 rules' };
  }
  return decoded;
}

/** What kube-apiserver assumes for a file that does not say. */
const UNSAID = { kind: 'Policy', apiVersion: 'audit.k8s.io/__internal' };
const SCHEME = '"k8s.io/apiserver/pkg/audit/scheme.go:30"';

function decode(text: string): LoadedAuditPolicy {
  try {
    const { tree, repeated } = parseConfigText(text);
    const said = sentKind(tree);
    const kind = said.kind || UNSAID.kind;
    const apiVersion = said.apiVersion || UNSAID.apiVersion;
    const unfit = apiVersionFault(apiVersion);
    if (unfit !== undefined) throw new DecodeError(unfit);
    const { group, version } = parseApiVersion(apiVersion);
    if (apiVersion === UNSAID.apiVersion && kind === UNSAID.kind) {
      return { ok: false, error: `unknown group version field ${group}/${version}, Kind=${kind} in policy` };
    }
    const type = apiVersion === AUDIT_GROUP_VERSION ? typeOf(group, version, kind) : undefined;
    if (type === undefined) {
      throw new DecodeError(
        `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme ${SCHEME}`,
      );
    }
    if (kind !== 'Policy')
      throw new DecodeError(`converting (${version}.${kind}) to (audit.Policy): unknown conversion`);
    const { object, strictErrors } = decodeParsed(type, text, { tree, repeated });
    return { ok: true, policy: object as unknown as Policy, strictErrors };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { ok: false, error: `failed decoding: ${error.message}` };
  }
}
