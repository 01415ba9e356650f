// The subject or issuer of a certificate, read from its DER: OpenSSL's text form is ambiguous where values hold
// newlines or equal signs, and identities hang on these values.
import { DER, DerError, type DerNode, derChildren, derOid, derText } from './der.js';

export interface NameAttribute {
  readonly oid: string;
  /** Undefined when the value is not text. */
  readonly value: string | undefined;
}

export interface DistinguishedName {
  readonly attributes: readonly NameAttribute[];
  /** The last one in the name; empty when there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';

export function parseDistinguishedName(node: DerNode): DistinguishedName {
  if (node.tag !== DER.sequence) throw new DerError('a name is a sequence');
  const attributes: NameAttribute[] = [];
  for (const set of derChildren(node)) {
    for (const pair of derChildren(set)) {
      const [type, value] = derChildren(pair);
      if (type === undefined || value === undefined) throw new DerError('malformed name attribute');
      attributes.push({ oid: derOid(type), value: derText(value) });
    }
  }
  const texts = (oid: string) => attributes.flatMap((a) => (a.oid === oid && a.value !== undefined ? [a.value] : []));
  return { attributes, commonName: texts(COMMON_NAME).at(-1) ?? '', organizations: texts(ORGANIZATION) };
}
