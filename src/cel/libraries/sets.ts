// Lists as sets.
import { fixed, times, timesFactor, plus } from '../cost/estimates.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { actualSize } from '../cost/actual-cost.js';
import type { Pace } from '../run/frame.js';
import { ValueIndex } from '../run/value-index.js';
import { BOOL, listType, typeParam } from '../type.js';
import type { CelList } from '../value.js';

const LIST = listType(typeParam('T'));

const containsAll = (list: CelList, part: CelList, pace: Pace): boolean => {
  const known = indexOf(list, pace);
  for (const item of part) {
    pace.round();
    if (!known.has(item)) return false;
  }
  return true;
};

const intersects = (list: CelList, other: CelList, pace: Pace): boolean => {
  const known = indexOf(other, pace);
  for (const item of list) {
    pace.round();
    if (known.has(item)) return true;
  }
  return false;
};

function indexOf(list: CelList, pace: Pace): ValueIndex {
  const index = new ValueIndex();
  for (const item of list) {
    pace.round();
    index.add(item);
  }
  return index;
}

/** Every element of one list may have to be compared with every element of the other, `rounds` times. */
const setFunction = (
  name: string,
  rounds: number,
  call: (a: CelList, b: CelList, pace: Pace) => boolean,
): FunctionDeclaration => ({
  name: `sets.${name}`,
  overloads: [
    {
      id: `list_sets_${name}_list`,
      parameters: [LIST, LIST],
      result: BOOL,
      call,
      paced: true,
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
    setFunction('equivalent', 2, (a, b, pace) => containsAll(a, b, pace) && containsAll(b, a, pace)),
  ],
};
