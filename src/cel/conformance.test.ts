// The language's own conformance tests, without those about protobuf messages and about libraries we do not have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tests as conformance } from '@bufbuild/cel-spec/testdata/conformance.js';
import { newEnvironment } from './compile.js';
import { equalValues } from './run/equality.js';
import { plainText } from './run/format-value.js';
import { parseDuration, parseTimestamp } from './run/time.js';
import { LANGUAGE } from './testing.js';
import * as types from './type.js';
import { CelType } from './type.js';
import { ArrayList, CelError, EntryMap, typeOf, Uint } from './value.js';
import type { Value } from './value.js';

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: Original }[];
}
interface Original {
  readonly name?: string;
  readonly expr: string;
  readonly value?: Json;
  readonly evalError?: unknown;
  readonly typedResult?: { readonly result?: Json; readonly deducedType?: Json };
  readonly typeEnv?: readonly { readonly name: string; readonly ident?: { readonly type: Json } }[];
  readonly bindings?: Readonly<Record<string, { readonly value: Json }>>;
  readonly disableCheck?: boolean;
}
type Json = Readonly<Record<string, unknown>>;

const ELSEWHERE =
  /TestAllTypes|google\.protobuf\.(?!Timestamp|Duration)|proto2|proto3|"container"|messageType|cel\.@?(?:block|iterVar)|base64|math\.|unknown|json|enums|"function"/i;

/** Where kube-apiserver as Kubernetes has it answers otherwise, by the name of the test. */
const DIFFERENT: readonly RegExp[] = [
  // Strings have version 2 there, whose format groups digits, quotes inside lists and writes exponents raised.
  /^string_ext\/format\/.*(scientific|infinity|NaN support for decimal|list|map)/,
  /^string_ext\/value_errors\/(last)?indexof_out_of_range$/,
  // A repeated key is not an error there.
  /^fields\/.*\/map_value_repeat_key/,
  // Selecting in what has no fields is absent there, where the selection is optional.
  /^optionals\/.*\/map_(null_entry_no_such_key|present_key_invalid_field)$/,
  /^type_deductions\/.*\/null_assignable_to_abstract_parameter_candidate$/,
];

function* casesOf(suite: Suite, path = ''): Generator<readonly [string, Original]> {
  for (const { original } of suite.tests ?? []) yield [`${path}${original.name ?? original.expr}`, original];
  for (const inner of suite.suites ?? []) yield* casesOf(inner, `${path}${inner.name}/`);
}

let ran = 0;
for (const [name, original] of casesOf(conformance as unknown as Suite)) {
  if (original.disableCheck === true || ELSEWHERE.test(name + JSON.stringify(original))) continue;
  if (DIFFERENT.some((pattern) => pattern.test(name))) continue;
  ran++;
  test(`${name}: ${original.expr}`, () => run(original));
}

test('most of the suite was run', () => assert.ok(ran > 1250, String(ran)));

function run({ expr, value, evalError, typedResult, typeEnv = [], bindings = {} }: Original): void {
  const values = Object.fromEntries(Object.entries(bindings).map(([name, { value: v }]) => [name, valueOf(v)]));
  const variables = Object.fromEntries([
    ...Object.keys(bindings).map((name) => [name, types.DYN] as const),
    ...typeEnv.flatMap(({ name, ident }) => (ident === undefined ? [] : [[name, declaredType(ident.type)] as const])),
  ]);
  const environment = newEnvironment({
    libraries: LANGUAGE,
    variables,
    settings: { homogeneousLiterals: false, literalValidation: false, escapedIdentifiers: true },
  });
  const checked = environment.compile(expr);
  if (checked.issues !== undefined) return assert.ok(evalError !== undefined, checked.issues);
  if (typedResult?.deducedType !== undefined) {
    assert.equal(types.formatType(checked.type), types.formatType(declaredType(typedResult.deducedType)));
  }
  const wanted = value ?? typedResult?.result;
  if (wanted === undefined && evalError === undefined && typedResult !== undefined) return;
  const program = checked.plan();
  const got = program instanceof CelError ? program : program.evaluate(values).value;
  if (evalError !== undefined) return assert.ok(got instanceof CelError, plainText(got));
  assertSame(got, wanted === undefined ? true : valueOf(wanted));
}

function assertSame(got: Value, wanted: Value): void {
  const difference = `${plainText(got)} instead of ${plainText(wanted)}`;
  assert.equal(typeOf(got).kind, typeOf(wanted).kind, difference);
  if (typeof wanted === 'number' && Number.isNaN(wanted)) assert.ok(Number.isNaN(got), difference);
  else assert.equal(equalValues(got, wanted), true, difference);
}

/** A value as protobuf's JSON has it. */
function valueOf(json: Json): Value {
  const [[kind, content] = []] = Object.entries(json);
  const text = String(content);
  switch (kind) {
    case 'int64Value':
      return BigInt(text);
    case 'uint64Value':
      return new Uint(BigInt(text));
    case 'doubleValue':
      return Number(text);
    case 'stringValue':
      return text;
    case 'boolValue':
      return content === true;
    case 'bytesValue':
      return new Uint8Array(Buffer.from(text, 'base64'));
    case 'typeValue':
      return new CelType('type', text);
    case 'listValue':
      return new ArrayList(listOf(content, 'values').map(valueOf));
    case 'mapValue':
      return new EntryMap(
        listOf(content, 'entries').map((e) => [valueOf(asJson(e['key'])), valueOf(asJson(e['value']))]),
      );
    case 'objectValue': {
      const { '@type': type, value } = asJson(content);
      return String(type).endsWith('Duration') ? parseDuration(String(value)) : parseTimestamp(String(value));
    }
    default:
      return null;
  }
}

const asJson = (value: unknown): Json => (typeof value === 'object' && value !== null ? { ...value } : {});

function listOf(value: unknown, member: string): readonly Json[] {
  const list = asJson(value)[member];
  return Array.isArray(list) ? list.map(asJson) : [];
}

const PRIMITIVES: Readonly<Record<string, CelType>> = {
  INT64: types.INT,
  UINT64: types.UINT,
  DOUBLE: types.DOUBLE,
  STRING: types.STRING,
  BOOL: types.BOOL,
  BYTES: types.BYTES,
  TIMESTAMP: types.TIMESTAMP,
  DURATION: types.DURATION,
  ANY: types.ANY,
};

function declaredType(json: Json): CelType {
  const [[kind, content] = []] = Object.entries(json);
  const inner = asJson(content);
  switch (kind) {
    case 'primitive':
    case 'wellKnown':
      return PRIMITIVES[String(content)] ?? types.DYN;
    case 'wrapper':
      return types.wrapperType(PRIMITIVES[String(content)] ?? types.DYN);
    case 'listType':
      return types.listType(declaredType(asJson(inner['elemType'])));
    case 'mapType':
      return types.mapType(declaredType(asJson(inner['keyType'])), declaredType(asJson(inner['valueType'])));
    case 'abstractType':
      return types.opaqueType(String(inner['name']), ...listOf(content, 'parameterTypes').map(declaredType));
    case 'null':
      return types.NULL;
    default:
      return types.DYN;
  }
}
