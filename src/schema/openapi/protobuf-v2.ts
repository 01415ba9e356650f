// Swagger 2.0 in protobuf, in the messages that clients agreed on (openapi.v2.Document).
import { isPlainObject } from '../../lib/values/plain-object.js';
import { Writer } from '../protobuf/writer.js';
import type { JsonSchema } from './json-schema.js';
import {
  any,
  choice,
  flag,
  integer,
  isReference,
  many,
  type Message,
  message,
  named,
  one,
  real,
  shell,
  text,
  texts,
} from './protobuf-message.js';

export function encodeDocumentV2(document: JsonSchema): Buffer {
  const writer = new Writer();
  documentMessage(writer, document);
  return writer.finish();
}

// Schemas contain schemas, so the message is looked up when it is used.
const schema: Message = (writer, value) => schemaMessage(writer, value);

const schemaMessage = message(
  {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, one(any)],
    multipleOf: [6, real],
    maximum: [7, real],
    exclusiveMaximum: [8, flag],
    minimum: [9, real],
    exclusiveMinimum: [10, flag],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, text],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, flag],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, texts],
    enum: [20, many(any)],
    additionalProperties: [21, one(choice((value) => (typeof value === 'boolean' ? [2, flag] : [1, one(schema)])))],
    type: [22, one(shell(1, texts))],
    items: [23, one(shell(1, many(schema)))],
    allOf: [24, many(schema)],
    properties: [25, one(shell(1, named(schema)))],
    example: [30, one(any)],
  },
  31,
);

const bodyParameter = message({
  description: [1, text],
  name: [2, text],
  in: [3, text],
  required: [4, flag],
  schema: [5, one(schema)],
});
const queryParameter = message({
  required: [1, flag],
  in: [2, text],
  description: [3, text],
  name: [4, text],
  type: [6, text],
  format: [7, text],
  uniqueItems: [20, flag],
});
const pathParameter = message({
  required: [1, flag],
  in: [2, text],
  description: [3, text],
  name: [4, text],
  type: [5, text],
  format: [6, text],
  uniqueItems: [19, flag],
});
const placeOf = (value: unknown): unknown => (isPlainObject(value) ? value.in : undefined);
const nonBodyParameter = choice((value) =>
  placeOf(value) === 'query' ? [3, one(queryParameter)] : [4, one(pathParameter)],
);
const parameter = choice((value) => (placeOf(value) === 'body' ? [1, one(bodyParameter)] : [2, one(nonBodyParameter)]));
const reference = message({ $ref: [1, text], description: [2, text] });
const parameterItem = choice((value) => (isReference(value) ? [2, one(reference)] : [1, one(parameter)]));

const response = message({ description: [1, text], schema: [2, one(shell(1, one(schema)))] });

const operation = message(
  {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, many(parameterItem)],
    responses: [9, one(shell(1, named(shell(1, one(response)))))],
    schemes: [10, texts],
    deprecated: [11, flag],
  },
  13,
);

const pathItem = message({
  get: [2, one(operation)],
  put: [3, one(operation)],
  post: [4, one(operation)],
  delete: [5, one(operation)],
  options: [6, one(operation)],
  head: [7, one(operation)],
  patch: [8, one(operation)],
  parameters: [9, many(parameterItem)],
});

const apiKey = message({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] });

const documentMessage = message({
  swagger: [1, text],
  info: [2, one(message({ title: [1, text], version: [2, text], description: [3, text] }))],
  paths: [8, one(shell(2, named(pathItem)))],
  definitions: [9, one(shell(1, named(schema)))],
  parameters: [10, one(shell(1, named(parameter)))],
  security: [12, many(shell(1, named(shell(1, texts))))],
  securityDefinitions: [13, one(shell(1, named(shell(2, one(apiKey)))))],
});
