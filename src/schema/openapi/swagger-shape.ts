// What the members of a Swagger document must be. A document with a member of another type is none to kube-apiserver, and
// merged with others it would make the whole of them unreadable to clients.
import { isPlainObject, ownMember } from '../../lib/values/plain-object.js';

type Shape = (value: unknown) => boolean;

/** Null is as good as nothing, everywhere. */
export const isPathItem: Shape = (value) => pathItem(value);
export const isDefinition: Shape = (value) => schema(value);
export const isParameter: Shape = (value) => parameter(value);
/** Members of the document itself; what is not listed may be anything. */
export const isDocumentMember = (name: string, value: unknown): boolean => fits(ownMember(DOCUMENT, name), value);

const fits = (shape: Shape | undefined, value: unknown): boolean =>
  shape === undefined || value === null || shape(value);

const text: Shape = (value) => typeof value === 'string';
const truth: Shape = (value) => typeof value === 'boolean';
const number: Shape = (value) => typeof value === 'number' || typeof value === 'bigint';
const integer: Shape = (value) => typeof value === 'bigint' || Number.isSafeInteger(value);
const listOf =
  (item: Shape | undefined): Shape =>
  (value) =>
    Array.isArray(value) && value.every((one) => fits(item, one));
const mapOf =
  (member: Shape | undefined): Shape =>
  (value) =>
    isPlainObject(value) && Object.values(value).every((one) => fits(member, one));
const struct =
  (members: () => Readonly<Record<string, Shape>>): Shape =>
  (value) =>
    isPlainObject(value) && Object.entries(value).every(([name, one]) => fits(ownMember(members(), name), one));

const texts = listOf(text);
const schema = struct(() => SCHEMA);
const schemas = listOf(schema);
const parameter = struct(() => PARAMETER);
const items = struct(() => ITEMS);
const operation = struct(() => OPERATION);
const pathItem = struct(() => PATH_ITEM);
const header = struct(() => HEADER);
const response = struct(() => RESPONSE);
const externalDocs = struct(() => ({ description: text, url: text }));
const security = listOf(mapOf(texts));
const textOrTexts: Shape = (value) => text(value) || texts(value);
const schemaOrTruth: Shape = (value) => truth(value) || schema(value);
/** What is neither is left out there. */
const schemaOr =
  (list: Shape): Shape =>
  (value) =>
    Array.isArray(value) ? list(value) : !isPlainObject(value) || schema(value);

/** By the number of an answer; other names mean nothing. */
const responses: Shape = (value) =>
  isPlainObject(value) &&
  Object.entries(value).every(([name, one]) => !/^(?:default|\d+)$/.test(name) || fits(response, one));

const LIMITS: Readonly<Record<string, Shape>> = {
  maximum: number,
  exclusiveMaximum: truth,
  minimum: number,
  exclusiveMinimum: truth,
  maxLength: integer,
  minLength: integer,
  pattern: text,
  maxItems: integer,
  minItems: integer,
  uniqueItems: truth,
  multipleOf: number,
  enum: listOf(undefined),
};

const SCHEMA: Readonly<Record<string, Shape>> = {
  ...LIMITS,
  id: text,
  $ref: text,
  $schema: text,
  description: text,
  type: textOrTexts,
  nullable: truth,
  format: text,
  title: text,
  maxProperties: integer,
  minProperties: integer,
  required: texts,
  items: schemaOr(schemas),
  allOf: schemas,
  oneOf: schemas,
  anyOf: schemas,
  not: schema,
  properties: mapOf(schema),
  additionalProperties: schemaOrTruth,
  patternProperties: mapOf(schema),
  dependencies: mapOf(schemaOr(texts)),
  additionalItems: schemaOrTruth,
  definitions: mapOf(schema),
  discriminator: text,
  readOnly: truth,
  externalDocs,
};

const ITEMS: Readonly<Record<string, Shape>> = {
  ...LIMITS,
  $ref: text,
  type: text,
  nullable: truth,
  format: text,
  items,
  collectionFormat: text,
};

const HEADER: Readonly<Record<string, Shape>> = { ...ITEMS, description: text };

const PARAMETER: Readonly<Record<string, Shape>> = {
  ...HEADER,
  name: text,
  in: text,
  required: truth,
  schema,
  allowEmptyValue: truth,
};

const RESPONSE: Readonly<Record<string, Shape>> = {
  $ref: text,
  description: text,
  schema,
  headers: mapOf(header),
  examples: mapOf(undefined),
};

const OPERATION: Readonly<Record<string, Shape>> = {
  description: text,
  consumes: texts,
  produces: texts,
  schemes: texts,
  tags: texts,
  summary: text,
  externalDocs,
  operationId: text,
  deprecated: truth,
  security,
  parameters: listOf(parameter),
  responses,
};

const PATH_ITEM: Readonly<Record<string, Shape>> = {
  $ref: text,
  get: operation,
  put: operation,
  post: operation,
  delete: operation,
  options: operation,
  head: operation,
  patch: operation,
  parameters: listOf(parameter),
};

const DOCUMENT: Readonly<Record<string, Shape>> = {
  id: text,
  consumes: texts,
  produces: texts,
  schemes: texts,
  swagger: text,
  info: struct(() => ({
    description: text,
    title: text,
    termsOfService: text,
    contact: mapOf(text),
    license: mapOf(text),
    version: text,
  })),
  host: text,
  basePath: text,
  responses: mapOf(response),
  securityDefinitions: mapOf(
    struct(() => ({
      description: text,
      type: text,
      name: text,
      in: text,
      flow: text,
      authorizationUrl: text,
      tokenUrl: text,
      scopes: mapOf(text),
    })),
  ),
  security,
  tags: listOf(struct(() => ({ description: text, name: text, externalDocs }))),
  externalDocs,
};
