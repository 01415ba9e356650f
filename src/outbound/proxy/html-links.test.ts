import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HtmlLinks } from './html-links.js';

async function rewritten(page: string, chunkLength = page.length): Promise<string> {
  const links = new HtmlLinks((link) => (link.startsWith('/') ? `/p${link}` : undefined));
  const bytes = Buffer.from(page);
  for (let at = 0; at < bytes.length; at += chunkLength) links.write(bytes.subarray(at, at + chunkLength));
  links.end();
  const chunks: Buffer[] = [];
  for await (const chunk of links as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const CASES: readonly (readonly [string, string])[] = [
  ['<a href="/x">ü</a>', '<a href="/p/x">ü</a>'],
  ["<A HREF='/x?a=1&amp;b=2' title=bare checked>", '<a href="/p/x?a=1&amp;b=2" title="bare" checked="">'],
  ['<p href="/x">1 < 2 </p>', '<p href="/x">1 < 2 </p>'],
  ['<img src="/a" /><img src=/b>', '<img src="/p/a"/><img src="/p/b">'],
  ['<!-- <a href="/x"> --><a href="/y">', '<!-- <a href="/x"> --><a href="/p/y">'],
  ['<script>"<a href=\'/x\'>"</SCRIPT><a href="/y">', '<script>"<a href=\'/x\'>"</SCRIPT><a href="/p/y">'],
  ['<a href="/x" data-t="a > b">', '<a href="/p/x" data-t="a &gt; b">'],
  ['<a href="/&copy;">', '<a href="/p/&copy;">'],
  ['<a href="/x', '<a href="/x'],
  ['<![CDATA[<a href="/x">]]><a href="/y">', '<![CDATA[<a href="/x">]]><a href="/p/y">'],
  ['<a href="/x" title="a" HREF="/y">', '<a href="/p/x" title="a">'],
  ['<a href=/x/><a href=/y />', '<a href="/p/x/"><a href="/p/y"/>'],
  ['<noscript><a href="/x"></noscript><a href="/y">', '<noscript><a href="/x"></noscript><a href="/p/y">'],
  ['<script src="/s"/><a href="/x">', '<script src="/p/s"/><a href="/x">'],
  ['<!--><a href="/x"><!---><a href="/y">', '<!--><a href="/p/x"><!---><a href="/p/y">'],
  ['<a =x href="/y">', '<a =x="" href="/p/y">'],
  ['<!doctype html></a><', '<!doctype html></a><'],
];

test('links of tags are rewritten; comments, scripts and everything else pass', async () => {
  for (const [page, expected] of CASES) assert.equal(await rewritten(page), expected);
});

test('a long tag that arrives in single characters is scanned once; one that does not end passes as it is', async () => {
  const title = '>'.repeat(60_000);
  const tag = `<a title="${title}" href="/x">`;
  assert.equal(
    await rewritten(`${tag}<a href="/y">`, 1),
    `<a title="${'&gt;'.repeat(60_000)}" href="/p/x"><a href="/p/y">`,
  );
  const endless = `<a title="${'>'.repeat(70_000)}`;
  assert.equal(await rewritten(endless, 100), endless);
});

test('it does not matter how a page is cut into pieces', async () => {
  for (const [page, expected] of CASES) assert.equal(await rewritten(page, 1), expected);
});
