// A reporter for node:test: the files that hold a test that failed, one on a line.
export default async function* failedFiles(events) {
  const files = new Set();
  for await (const { type, data } of events) if (type === 'test:fail' && data.file) files.add(data.file);
  for (const file of files) yield `${file}\n`;
}
