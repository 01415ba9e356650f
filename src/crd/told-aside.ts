// What is told of a large definition is found out in another thread: its schemas are looked through from end to end.
import { isLargerThan, schemasOf } from '../apis/apiextensions/schema-walk.js';
import { type Aside, asideOr, task } from '../lib/aside.js';
import { bufferOf } from '../lib/buffer-of.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import { definitionFrom, definitionJson } from './definition-json.js';
import { type ToldConditions, toldConditions } from './told-conditions.js';

export const TELL = task<{ readonly definition: Uint8Array }, { readonly told: ToldConditions }>('tell');

/** About as many has a part of a schema when it is printed. */
const PART_BYTES = 25;

export async function toldOf(
  aside: Aside | undefined,
  definition: Readonly<CustomResourceDefinition>,
): Promise<ToldConditions> {
  const most = (aside?.fromBytes ?? 0) / PART_BYTES;
  if (aside === undefined || !schemasOf(definition.spec).some((schema) => isLargerThan(schema, most))) {
    return toldConditions(definition);
  }
  const telling = aside.do(TELL, { definition: await definitionJson(definition) });
  const { told } = await asideOr(telling, () => ({ told: toldConditions(definition) }));
  return told;
}

/** The other side. */
export const tellHere = ({ definition }: { readonly definition: Uint8Array }): { readonly told: ToldConditions } => ({
  told: toldConditions(definitionFrom(bufferOf(definition))),
});
