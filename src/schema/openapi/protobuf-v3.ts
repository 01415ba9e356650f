// OpenAPI 3.0 in protobuf, in the messages that clients agreed on (openapi.v3.Document).
import { Writer } from '../protobuf/writer.js';
import type { JsonSchema } from './json-schema.js';
import {
  any,
  choice,
  flag,
  integer,
  isReference,
  many,
  type Member,
  type Message,
  message,
  named,
  one,
  real,
  shell,
  text,
  texts,
} from './protobuf-message.js';

export function encodeDocumentV3(document: JsonSchema): Buffer {
  const writer = new Writer();
  documentMessage(writer, document);
  return writer.finish();
}

const reference = message({ $ref: [1, text], summary: [2, text], description: [3, text] });
/** What may stand by itself or by reference. */
const orReference = (inside: Message): Message =>
  choice((value) => (isReference(value) ? [2, one(reference)] : [1, one(inside)]));

// Schemas contain schemas, so the message is looked up when it is used.
const schema: Message = orReference((writer, value) => schemaMessage(writer, value));

/** Only plain values fit: the default of a struct, an empty object, has no form here. */
const plainValue: Member = (writer, number, value) => {
  if (typeof value === 'number') one(shell(1, real))(writer, number, value);
  else if (typeof value === 'boolean') one(shell(2, flag))(writer, number, value);
  else if (typeof value === 'string') one(shell(3, text))(writer, number, value);
};

const schemaMessage = message(
  {
    nullable: [1, flag],
    readOnly: [3, flag],
    example: [7, one(any)],
    deprecated: [8, flag],
    title: [9, text],
    multipleOf: [10, real],
    maximum: [11, real],
    exclusiveMaximum: [12, flag],
    minimum: [13, real],
    exclusiveMinimum: [14, flag],
    maxLength: [15, integer],
    minLength: [16, integer],
    pattern: [17, text],
    maxItems: [18, integer],
    minItems: [19, integer],
    uniqueItems: [20, flag],
    maxProperties: [21, integer],
    minProperties: [22, integer],
    required: [23, texts],
    enum: [24, many(any)],
    type: [25, text],
    allOf: [26, many(schema)],
    oneOf: [27, many(schema)],
    anyOf: [28, many(schema)],
    not: [29, one((writer, value) => schemaMessage(writer, value))],
    items: [30, one(shell(1, many(schema)))],
    properties: [31, one(shell(1, named(schema)))],
    additionalProperties: [32, one(choice((value) => (typeof value === 'boolean' ? [2, flag] : [1, one(schema)])))],
    default: [33, plainValue],
    description: [34, text],
    format: [35, text],
  },
  36,
);

const parameter = orReference(
  message({
    name: [1, text],
    in: [2, text],
    description: [3, text],
    required: [4, flag],
    schema: [10, one(schema)],
  }),
);
const content = shell(1, named(message({ schema: [1, one(schema)] })));
const response = orReference(message({ description: [1, text], content: [3, one(content)] }));

const operation = message(
  {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, many(parameter)],
    requestBody: [
      7,
      one(orReference(message({ description: [1, text], content: [2, one(content)], required: [3, flag] }))),
    ],
    responses: [8, one(shell(2, named(response)))],
    deprecated: [10, flag],
  },
  13,
);

const pathItem = message({
  get: [4, one(operation)],
  put: [5, one(operation)],
  post: [6, one(operation)],
  delete: [7, one(operation)],
  options: [8, one(operation)],
  head: [9, one(operation)],
  patch: [10, one(operation)],
  parameters: [13, many(parameter)],
});

const securityScheme = message({ type: [1, text], description: [2, text], name: [3, text], in: [4, text] });

const documentMessage = message({
  openapi: [1, text],
  info: [2, one(message({ title: [1, text], description: [2, text], version: [6, text] }))],
  paths: [4, one(shell(1, named(pathItem)))],
  components: [
    5,
    one(
      message({
        schemas: [1, one(shell(1, named(schema)))],
        securitySchemes: [7, one(shell(1, named(orReference(securityScheme))))],
      }),
    ),
  ],
});
