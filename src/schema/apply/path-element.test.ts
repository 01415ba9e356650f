import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elementText } from './path-element.js';

test('an element is shown as people read it', () => {
  const shown: Readonly<Record<string, string>> = {
    'f:spec': '.spec',
    'i:3': '[3]',
    'v:"x"': '[="x"]',
    'v:null': '[=null]',
    'k:{"name":"a","port":80}': '[name="a",port=80]',
    'k:{"a":{"q":null,"r":[1,"x"]},"b":true}': '[a=q=nullr=[1,"x"],b=true]',
  };
  for (const [element, text] of Object.entries(shown)) assert.equal(elementText(element), text);
});
