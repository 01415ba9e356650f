// Swagger 2.0 as OpenAPI 3.0, for servers that know only the former. What the newer form has no place for is lost.
import { isPlainObject, setMember } from '../../lib/values/plain-object.js';
import { Yielder } from '../../lib/scheduling/yield.js';
import type { JsonSchema } from './json-schema.js';
import { mapMembers } from './merge-swagger.js';
import { DEFINITIONS, namedBy, PARAMETERS, type Swagger } from './swagger.js';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

export async function convertSwagger(document: Swagger): Promise<string> {
  const yielder = new Yielder();
  const encode = async (
    members: ReadonlyMap<string, JsonSchema>,
    convert: (member: JsonSchema) => JsonSchema,
  ): Promise<string> => {
    const encoded: string[] = [];
    for (const [name, member] of members) {
      encoded.push(`${JSON.stringify(name)}:${JSON.stringify(convert(member))}`);
      await yielder.yieldIfDue();
    }
    return `{${encoded.join(',')}}`;
  };
  const paths = await encode(document.paths, (item) => convertItem(item, document));
  const schemas = document.definitions.size === 0 ? '' : await encode(document.definitions, convertSchema);
  const { info, securityDefinitions, externalDocs } = Object.fromEntries(document.rest);
  const components = [
    ...(schemas === '' ? [] : [`"schemas":${schemas}`]),
    ...(isPlainObject(securityDefinitions)
      ? [`"securitySchemes":${JSON.stringify(converted(securityDefinitions, convertSecurity))}`]
      : []),
  ];
  const members = [
    '"openapi":"3.0.0"',
    ...(info === undefined ? [] : [`"info":${JSON.stringify(info)}`]),
    `"paths":${paths}`,
    `"components":{${components.join(',')}}`,
    ...(externalDocs === undefined ? [] : [`"externalDocs":${JSON.stringify(externalDocs)}`]),
  ];
  return `{${members.join(',')}}`;
}

function convertItem(item: JsonSchema, document: Swagger): JsonSchema {
  const changed: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(item)) {
    if (METHODS.includes(name) && isPlainObject(member)) changed[name] = convertOperation(member, document);
    else if (name === 'parameters') changed[name] = parametersIn(member, document).map(convertParameter);
    else if (name === '$ref' || name.startsWith('x-')) changed[name] = member;
  }
  return changed;
}

function convertOperation(operation: JsonSchema, document: Swagger): JsonSchema {
  const { consumes, produces, schemes: _schemes, parameters, responses, security: _security, ...same } = operation;
  const all = parametersIn(parameters, document);
  const isBody = (parameter: JsonSchema): boolean => parameter.name === 'body' && isPlainObject(parameter.schema);
  const body = all.find(isBody);
  const others = all.filter((parameter) => !isBody(parameter));
  return {
    ...same,
    ...(others.length > 0 && { parameters: others.map(convertParameter) }),
    ...(body !== undefined && { requestBody: contentOf(body.schema, consumes) }),
    responses: converted(isPlainObject(responses) ? responses : {}, ({ schema, ...response }) => ({
      ...response,
      ...contentOf(schema, produces),
    })),
  };
}

function contentOf(schema: unknown, mediaTypes: unknown): JsonSchema {
  if (!isPlainObject(schema) || !Array.isArray(mediaTypes)) return {};
  const media = { schema: convertSchema(schema) };
  return { content: Object.fromEntries(mediaTypes.map((type) => [String(type), media])) };
}

/** A reference to one stands for it: the newer form has them elsewhere. */
function parametersIn(list: unknown, { parameters }: Swagger): JsonSchema[] {
  return (Array.isArray(list) ? list : []).filter(isPlainObject).map((parameter) => {
    const shared = typeof parameter.$ref === 'string' ? namedBy(parameter.$ref, PARAMETERS) : undefined;
    return (shared === undefined ? undefined : parameters.get(shared)) ?? parameter;
  });
}

function convertParameter(parameter: JsonSchema): JsonSchema {
  const { type, format, uniqueItems, items, schema, ...same } = parameter;
  const simple = Object.fromEntries(
    Object.entries({ type, format, uniqueItems, items }).filter(([, value]) => value !== undefined),
  );
  return { ...same, schema: convertSchema(isPlainObject(schema) ? schema : simple) };
}

/** References lead to another place, and nothing may stand beside one. */
function convertSchema(schema: JsonSchema): JsonSchema {
  const moved = mapMembers(schema, (name, member) => {
    const definition = name === '$ref' && typeof member === 'string' ? namedBy(member, DEFINITIONS) : undefined;
    return definition === undefined ? member : `#/components/schemas/${definition}`;
  });
  return wrapReferences(moved);
}

function wrapReferences(schema: JsonSchema): JsonSchema {
  const wrapped: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(schema)) setMember(wrapped, name, wrapMember(member));
  const { $ref, ...beside } = wrapped;
  return typeof $ref === 'string' && Object.keys(beside).length > 0 ? { ...beside, allOf: [{ $ref }] } : wrapped;
}

function wrapMember(member: unknown): unknown {
  if (Array.isArray(member)) return member.map(wrapMember);
  return isPlainObject(member) ? wrapReferences(member) : member;
}

function convertSecurity(scheme: JsonSchema): JsonSchema {
  const { flow, authorizationUrl, tokenUrl, scopes, ...same } = scheme;
  return typeof flow === 'string' ? { ...same, flows: { [flow]: { authorizationUrl, tokenUrl, scopes } } } : same;
}

const converted = (members: JsonSchema, convert: (member: JsonSchema) => JsonSchema): JsonSchema => {
  const changed: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(members))
    if (isPlainObject(member)) setMember(changed, name, convert(member));
  return changed;
};
