// Reads the catalogue's notation (src/schema/catalogue/README.md) into declarations, types still as text.
import { trimEnd } from '../lib/text/trim-end.js';

export interface CatalogueFile {
  /** `io.k8s.api.core.v1` */
  readonly package: string;
  /** `apps/v1`, or empty when the file is no group version. */
  readonly apiVersion: string;
  readonly declarations: ReadonlyMap<string, Declaration>;
}

export interface NamedString {
  readonly is: 'string';
  readonly name: string;
  readonly values: readonly string[];
  /** Whether OpenAPI publishes the values. */
  readonly published: boolean;
}

export interface Alias {
  readonly is: 'alias';
  readonly name: string;
  readonly type: string;
  /** In protobuf the list is a message of its own. */
  readonly message: boolean;
}

export interface Struct {
  readonly is: 'struct';
  readonly name: string;
  /** Has `kind` and `apiVersion`. */
  readonly isKind: boolean;
  readonly mapType?: 'atomic' | 'granular';
  readonly union: boolean;
  readonly members: readonly Member[];
}

export type Declaration = NamedString | Alias | Struct;

export interface Member {
  readonly json: string;
  /** The type's text, without the pointer's star. A member that starts with dots stands for another type's members. */
  readonly type: string;
  readonly proto: number;
  readonly inline: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly pointer: boolean;
  readonly required: boolean;
  readonly words: readonly string[];
}

export function parseCatalogueFile(text: string): CatalogueFile {
  const declarations = new Map<string, Declaration>();
  let packageName = '';
  let apiVersion = '';
  let members: Member[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('  ')) {
      members.push(parseMember(line.trim().split(' ')));
      continue;
    }
    const [keyword = '', name = '', ...rest] = line.split(' ');
    switch (keyword) {
      case 'package':
        packageName = name;
        break;
      case 'version':
        apiVersion = name === '-' ? '' : name;
        break;
      case 'enum':
      case 'string':
        declarations.set(name, { is: 'string', name, values: wordsOf(rest), published: keyword === 'enum' });
        break;
      case 'alias':
        declarations.set(name, { is: 'alias', name, type: rest[0] ?? '', message: rest[1] === 'message' });
        break;
      case 'kind':
      case 'type': {
        members = [];
        const mapType = rest.find((word) => word === 'atomic' || word === 'granular');
        declarations.set(name, {
          is: 'struct',
          name,
          isKind: keyword === 'kind',
          mapType,
          union: rest.includes('union'),
          members,
        });
        break;
      }
      default:
        throw new Error(`the catalogue has no keyword ${keyword}: ${line}`);
    }
  }
  return { package: packageName, apiVersion, declarations };
}

function parseMember([head = '', typeText = '', protoText = '', ...rest]: string[]): Member {
  if (head.startsWith('...')) {
    const proto = typeText === '' ? 0 : Number(typeText);
    return {
      json: '',
      type: head.slice(3),
      proto,
      inline: true,
      omitEmpty: false,
      omitZero: false,
      pointer: false,
      required: false,
      words: [],
    };
  }
  const json = trimEnd(head, '?');
  const omitEmpty = json.length < head.length;
  const pointer = typeText.startsWith('*');
  // A default may contain spaces, so it is the last word and extends to the end of the line.
  const defaultAt = rest.findIndex((word) => word.startsWith('default='));
  const words = defaultAt < 0 ? rest : [...rest.slice(0, defaultAt), rest.slice(defaultAt).join(' ')];
  return {
    json,
    type: pointer ? typeText.slice(1) : typeText,
    proto: protoText === '-' ? 0 : Number(protoText),
    inline: false,
    omitEmpty,
    omitZero: head.endsWith('??'),
    pointer,
    required: words.includes('required') || (!omitEmpty && !words.includes('optional')),
    words,
  };
}

/** A value with spaces in it stands in quotes. */
const wordsOf = (rest: readonly string[]): string[] =>
  (rest.join(' ').match(/"[^"]*"|\S+/g) ?? []).map((word) => (word.startsWith('"') ? word.slice(1, -1) : word));
