// Lists as sets.
import { fixed, times, timesFactor, plus } from '../cost/estimates.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { actualSize } from '../cost/actual-cost.js';
import { ValueIndex } from '../run/value-index.js';
import { BOOL, listType, typeParam } from '../type.js';
import type { CelList } from '../value.js';

const LIST = listType(typeParam('T'));

const containsAll = (list: CelList, part: CelList): boolean => {
  const known = ValueIndex.of(list);
  return [...part].every((item) => known.has(item));
};

const intersects = (list: CelList, other: CelList): boolean => {
  const known = ValueIndex.of(other);
  return [...list].some((item) => known.has(item));
};

/** Every element of one list may have to be compared with every element of the other, `rounds` times. */
const setFunction = (name: string, rounds: number, call: (a: CelList, b: CelList) => boolean): FunctionDeclaration => ({
  name: `sets.${name}`,
  overloads: [
    {
      id: `list_sets_${name}_list`,
      parameters: [LIST, LIST],
      result: BOOL,
      call,
      cost: ([a = null, b = null]) => 1 + actualSize(a) * actualSize(b) * rounds,
      estimate: ({ args: [a, b], sizeOf }) => {
        if (a === undefined || b === undefined) return undefined;
        return { cost: plus(timesFactor(times(sizeOf(a), sizeOf(b)), rounds), fixed(1)) };
      },
    },
  ],
});

export const setsLibrary: Library = {
  name: 'sets',
  functions: [
    setFunction('contains', 1, containsAll),
    setFunction('intersects', 1, intersects),
    setFunction('equivalent', 2, (a, b) => containsAll(a, b) && containsAll(b, a)),
  ],
};
