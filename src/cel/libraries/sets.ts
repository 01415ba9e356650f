// Lists as sets.
import { fixed, times, timesFactor, plus } from '../cost/estimates.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { actualSize } from '../cost/actual-cost.js';
import { equalValues } from '../run/equality.js';
import { BOOL, listType, typeParam } from '../type.js';
import type { CelList, Value } from '../value.js';

const LIST = listType(typeParam('T'));

const has = (list: CelList, wanted: Value): boolean => {
  for (let i = 0; i < list.size; i++) if (equalValues(wanted, list.at(i)) === true) return true;
  return false;
};

const containsAll = (list: CelList, part: CelList): boolean => [...part].every((item) => has(list, item));

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
    setFunction('intersects', 1, (a, b) => [...a].some((item) => has(b, item))),
    setFunction('equivalent', 2, (a, b) => containsAll(a, b) && containsAll(b, a)),
  ],
};
