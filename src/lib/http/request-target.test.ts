import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePath, parseQuery } from './request-target.js';

test('a path is decoded byte by byte, and a malformed escape makes it none', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['/plain+plus;semi', '/plain+plus;semi'],
    ['/%61pi/v1', '/api/v1'],
    ['/a%2Fb%2f', '/a/b/'],
    ['/%C3%A9', '/\u00e9'],
    ['/%ffa', '/\ufffda'],
    ['/%2541', '/%41'],
    ['/\u00c3\u00a9%20', '/\u00e9 '],
    ['/\u00c3\u00a9', '/\u00e9'],
    ['/%', undefined],
    ['/%4', undefined],
    ['/%4g', undefined],
    ['/%ff%', undefined],
  ];
  for (const [path, wanted] of cases) assert.equal(decodePath(path), wanted, path);
});

test('a query is read as kube-apiserver reads it', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', ''],
    ['watch=true&a=b', 'watch:true a:b'],
    ['wat%63h=true', 'watch:true'],
    ['a+b=c+d', 'a b:c d'],
    ['a=b=c&&&=', 'a:b=c :'],
    ['watch', 'watch:'],
    ['watch=true;a=b', ''],
    ['a=1;&watch=true', 'watch:true'],
    ['watch%3Dtrue', 'watch=true:'],
    ['wat%zzh=true&b=%&c=%4&d=1', 'd:1'],
    ['?watch=true', '?watch:true'],
    ['?wat%63h=true', '?watch:true'],
    ['a=%3B', 'a:;'],
    ['a=\u00c3\u00a9&b=%C3\u00a9&c=\u00e9', 'a:\u00e9 b:\u00e9 c:\ufffd'],
    [`${'&'.repeat(9_999)}a=b`, 'a:b'],
    [`${'&'.repeat(10_000)}a=b`, ''],
  ];
  for (const [search, wanted] of cases) {
    assert.equal(
      [...parseQuery(search)].map(([name, value]) => `${name}:${value}`).join(' '),
      wanted,
      search.slice(0, 80),
    );
  }
});
