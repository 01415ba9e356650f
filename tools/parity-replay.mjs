// Replays recorded requests with what golden.mjs exports, and counts the answers that agree. Ages of objects in tables
// ("1s") are no part of an answer: how many seconds the requests before it took is the machine's.
const AGE = /^(?:\d+[smhdy])+$|^<unknown>$/;

/** How many answers of each area agree; of all areas when none is named. */
export async function replayAreas({ tool, data, client: options, areas, caseName, show }) {
  const client = new tool.Client(options);
  const counts = {};
  let shown = 0;
  for (const [area, cases] of Object.entries(tool.loadCases(data))) {
    if (areas.length > 0 && !areas.includes(area)) continue;
    let answers = 0;
    let agree = 0;
    for (const one of cases.filter(({ name }) => caseName === undefined || name.includes(caseName))) {
      await tool.runCase(client, one, (i, step, response, context) => {
        answers++;
        const differences = differencesOf(tool, step, response, context);
        if (differences.length === 0) agree++;
        else if (shown++ < show) {
          const lines = differences.slice(0, 8).join('\n    ');
          console.log(`✗ ${area} / ${one.name} / step ${i}: ${step.method} ${step.path}\n    ${lines}`);
        }
      });
    }
    counts[area] = agree;
    console.log(`${area.padEnd(28)} ${String(agree).padStart(5)} of ${String(answers).padStart(5)} agree`);
  }
  client.agent.destroy();
  return counts;
}

function differencesOf(tool, step, response, context) {
  const got = JSON.parse(JSON.stringify(tool.answerOf(response, step, context)));
  const want = step.answer;
  const status =
    got.status === want.status ? [] : [`status: want ${want.status} got ${got.status} ${response.error ?? ''}`];
  const body = (answer) => withoutAges(tool.canon(answer.body));
  return [...status, ...tool.diff(want.headers, got.headers, 'header'), ...tool.diff(body(want), body(got))];
}

/** golden.mjs leaves out ages where a table names its columns; the tables of a watch do so but once. */
function withoutAges(value) {
  if (Array.isArray(value)) return value.map(withoutAges);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === 'cells' && Array.isArray(member)
        ? member.map((cell) => (typeof cell === 'string' && AGE.test(cell) ? '<age>' : cell))
        : withoutAges(member),
    ]),
  );
}
