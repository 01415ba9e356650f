// Which objects a list, watch or collection delete is about.
import type { FieldSelector } from '../../machinery/field-selector.js';
import type { KubeObject } from '../../machinery/object.js';
import { badRequest } from '../../machinery/status.js';
import { goQuote } from '../../lib/go/quote.js';
import { normalize } from '../../schema/json/decode.js';
import type * as storage from '../../storage/store.js';
import { type Endpoint, toStorage } from './endpoint.js';
import type { SentSelectors } from './sent-selectors.js';

export interface Selection extends storage.Selection {
  readonly name?: string;
}

const NAMES = ['metadata.name', 'metadata.namespace'];

/** `name`: the object a watch or list of one names in its path. */
export function selectionOf(endpoint: Endpoint, { labels, fields }: SentSelectors, name: string): Selection {
  if (fields !== undefined) checkFields(endpoint, fields);
  const required = fields?.requiresExactMatch('metadata.name');
  if (name !== '' && fields !== undefined && !fields.empty && required !== name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  const only = name || required;
  const needsFields = fields !== undefined && !fields.empty;
  const needsLabels = labels !== undefined && !labels.empty;
  if (!needsFields && !needsLabels) return only ? { name: only } : {};
  const fieldValues = fields?.requirements.filter(({ operator }) => operator === '=') ?? [];
  return {
    ...(only && { name: only }),
    predicate: (object) => (!needsLabels || labels.matches(object.labels)) && (!needsFields || fields.matches(object)),
    ...(fieldValues.length > 0 && { fieldValues }),
    ...(needsLabels && { labels: (own) => labels.matches(own) }),
  };
}

function checkFields(endpoint: Endpoint, selector: FieldSelector): void {
  const { definition } = endpoint;
  const known = knownFields(endpoint);
  // A kind that says itself what is selected by knows of no namespace where it lies in none.
  const names = known === undefined || definition.namespaced ? NAMES : NAMES.slice(0, 1);
  for (const { field } of selector.requirements) {
    if (names.includes(field) || known?.has(field)) continue;
    if (known === undefined) {
      throw badRequest(`${goQuote(field)} is not a known field selector: only ${names.map(goQuote).join(', ')}`);
    }
    throw badRequest(
      definition.selection?.fieldLabelError?.(field, endpoint.kind.version) ?? `field label not supported: ${field}`,
    );
  }
}

const memoizedFields = new WeakMap<Endpoint, ReadonlySet<string> | undefined>();

/** The kind's own selectable fields: those an object with nothing set has. */
function knownFields(endpoint: Endpoint): ReadonlySet<string> | undefined {
  if (memoizedFields.has(endpoint)) return memoizedFields.get(endpoint);
  const { definition, type } = endpoint;
  const unset = normalize(type, { metadata: {} }) as unknown as KubeObject;
  const fields = definition.selection?.fields?.(toStorage(endpoint, unset));
  const known = fields === undefined ? undefined : new Set(Object.keys(fields));
  memoizedFields.set(endpoint, known);
  return known;
}
