// Amounts such as `500m` or `1.5Gi`.
import {
  type Quantity,
  QuantityError,
  addQuantities,
  approximateValue,
  compareQuantities,
  formatQuantity,
  integerAtHand,
  parseQuantity,
  quantityFrom,
  quantitySign,
  subtractQuantities,
} from '../../machinery/quantity.js';
import type { Library } from '../library.js';
import { BOOL, DOUBLE, INT, STRING, objectType } from '../type.js';
import { CelError, OpaqueValue, type Value, noSuchOverload, unsupportedConversion } from '../value.js';

export const QUANTITY = objectType('kubernetes.Quantity');

class QuantityValue extends OpaqueValue {
  readonly type = QUANTITY;
  constructor(
    readonly quantity: Quantity,
    /** Made by addition or subtraction. kube-apiserver does not know such a one when it stands on the right of `==`. */
    private readonly isComputed = false,
  ) {
    super();
  }
  equal(other: Value): Value {
    if (!(other instanceof QuantityValue) || other.isComputed) return noSuchOverload();
    return compareQuantities(this.quantity, other.quantity) === 0;
  }
  override readAgain(): Value {
    return unsupportedConversion(`(*resource.Quantity)${formatQuantity(this.quantity)}`);
  }
}

export const quantityLibrary: Library = {
  name: 'kubernetes.quantity',
  functions: [
    {
      name: 'quantity',
      overloads: [{ id: 'string_to_quantity', parameters: [STRING], result: QUANTITY, call: quantityOf }],
    },
    {
      name: 'isQuantity',
      overloads: [
        {
          id: 'is_quantity_string',
          parameters: [STRING],
          result: BOOL,
          call: (text: string) => !(quantityOf(text) instanceof CelError),
        },
      ],
    },
    {
      name: 'sign',
      overloads: [
        {
          id: 'quantity_sign',
          parameters: [QUANTITY],
          result: INT,
          call: ({ quantity }: QuantityValue) => BigInt(quantitySign(quantity)),
        },
      ],
    },
    {
      name: 'isGreaterThan',
      overloads: [comparing('quantity_is_greater_than', (compared) => compared > 0)],
    },
    { name: 'isLessThan', overloads: [comparing('quantity_is_less_than', (compared) => compared < 0)] },
    {
      name: 'compareTo',
      overloads: [{ ...comparing('quantity_compare_to', (compared) => BigInt(compared)), result: INT }],
    },
    {
      name: 'asApproximateFloat',
      overloads: [
        {
          id: 'quantity_get_float',
          member: true,
          parameters: [QUANTITY],
          result: DOUBLE,
          call: ({ quantity }: QuantityValue) => approximateValue(quantity),
        },
      ],
    },
    {
      name: 'asInteger',
      overloads: [
        {
          id: 'quantity_get_int',
          member: true,
          parameters: [QUANTITY],
          result: INT,
          call: ({ quantity }: QuantityValue) =>
            integerAtHand(quantity) ?? new CelError('cannot convert value to integer'),
        },
      ],
    },
    {
      name: 'isInteger',
      overloads: [
        {
          id: 'quantity_is_integer',
          member: true,
          parameters: [QUANTITY],
          result: BOOL,
          call: ({ quantity }: QuantityValue) => integerAtHand(quantity) !== undefined,
        },
      ],
    },
    { name: 'add', overloads: combining('add', addQuantities) },
    { name: 'sub', overloads: combining('sub', subtractQuantities) },
  ],
};

function quantityOf(text: string): Value {
  try {
    return new QuantityValue(parseQuantity(text));
  } catch (error) {
    if (error instanceof QuantityError) return new CelError(error.message);
    throw error;
  }
}

function comparing(id: string, answer: (compared: number) => Value) {
  return {
    id,
    member: true,
    parameters: [QUANTITY, QUANTITY],
    result: BOOL,
    call: (left: QuantityValue, right: QuantityValue) => answer(compareQuantities(left.quantity, right.quantity)),
  };
}

function combining(name: string, combine: (left: Quantity, right: Quantity) => Quantity) {
  const member = { member: true, result: QUANTITY };
  return [
    {
      ...member,
      id: `quantity_${name}`,
      parameters: [QUANTITY, QUANTITY],
      call: (left: QuantityValue, right: QuantityValue) =>
        new QuantityValue(combine(left.quantity, right.quantity), true),
    },
    {
      ...member,
      id: `quantity_${name}_int`,
      parameters: [QUANTITY, INT],
      call: (left: QuantityValue, right: bigint) =>
        new QuantityValue(combine(left.quantity, quantityFrom(right, 'DecimalExponent')), true),
    },
  ];
}
