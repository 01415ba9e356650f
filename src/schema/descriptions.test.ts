import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogueTypeNames, typeByName, typeOf } from './catalogue.js';
import { borrowedNames, describedGroups, describedNames, describeField } from './descriptions.js';
import { catalogueTexts } from './generated/texts.js';
import type { StructType } from './type.js';

/** Every type of a group by its short name, over all versions. */
function typesOfGroup(group: string): Map<string, StructType[]> {
  const packages = new Set(
    Object.entries(catalogueTexts)
      .filter(([file]) => file.split('.', 1)[0] === group)
      .map(([, { package: prefix }]) => prefix),
  );
  const types = new Map<string, StructType[]>();
  for (const name of catalogueTypeNames()) {
    const dot = name.lastIndexOf('.');
    const type = packages.has(name.slice(0, dot)) ? typeByName(name) : undefined;
    if (type !== undefined) types.set(name.slice(dot + 1), [...(types.get(name.slice(dot + 1)) ?? []), type]);
  }
  return types;
}

/** Scalars with a definition of their own are described where they are defined. */
const splitName = (name: string): [type: string, field: string | undefined] => {
  const dot = name.indexOf('.');
  return dot < 0 ? [name, undefined] : [name.slice(0, dot), name.slice(dot + 1)];
};

test('every described type and field is in the catalogue', () => {
  for (const group of describedGroups()) {
    const types = typesOfGroup(group);
    for (const name of describedNames(group).keys()) {
      const [type, field] = splitName(name);
      const versions = types.get(type);
      assert.ok(versions !== undefined, `${group}: no type ${type}`);
      if (field !== undefined) {
        assert.ok(
          versions.some((version) => version.byJson.has(field)),
          `${group}: ${type} has no field ${field}`,
        );
      }
    }
    for (const pair of borrowedNames(group))
      for (const type of pair) assert.ok(types.has(type), `${group}: no type ${type}`);
  }
});

test('no description repeats its name, and each is a sentence', () => {
  const characters = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '');
  for (const group of describedGroups()) {
    for (const [name, sentence] of describedNames(group)) {
      const [type, field = type] = splitName(name);
      assert.notEqual(characters(sentence), characters(field), name);
      assert.notEqual(characters(sentence).replace(/^(the|a|an|its)/, ''), characters(field), name);
      assert.match(sentence, /[.…]$/, name);
    }
  }
});

test('hundreds of fields are described, and all of a pod', () => {
  const count = describedGroups().reduce((sum, group) => sum + describedNames(group).size, 0);
  assert.ok(count >= 600, String(count));
  const undescribed: string[] = [];
  for (const name of [
    'PodSpec',
    'Container',
    'Probe',
    'SecurityContext',
    'ServiceSpec',
    'Volume',
    'EphemeralContainer',
  ]) {
    for (const field of typeByName(`io.k8s.api.core.v1.${name}`)?.fields ?? []) {
      if (field.description === undefined) undescribed.push(`${name}.${field.json}`);
    }
  }
  assert.deepEqual(undescribed, []);
});

test('a type inherits what it lacks from the one it names, and sorts of types share the rest', () => {
  assert.equal(
    describeField('core.v1', 'EphemeralContainerCommon', 'image'),
    describeField('core.v1', 'Container', 'image'),
  );
  assert.match(describeField('apps.v1', 'DeploymentCondition', 'status') ?? '', /True/);
  assert.match(typeOf('apps', 'v1', 'DeploymentList')?.description ?? '', /list of Deployment/);
  assert.equal(describeField('apps.v1', 'DeploymentSpec', 'nonsense'), undefined);
});
