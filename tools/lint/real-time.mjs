// A test that sleeps is slow on a quiet machine and fails on a busy one. It awaits the event, moves a clock, or asks again
// (src/lib/testing/poll-until.ts).
const MESSAGE = 'a test does not sleep: await the event, move a clock, or use pollUntil() or settled()';

export default {
  meta: { name: 'tests' },
  rules: {
    'real-time': {
      create(context) {
        const refuse = (node) => context.report({ node, message: MESSAGE });
        return {
          CallExpression(node) {
            const { callee } = node;
            const name =
              callee.type === 'MemberExpression' && callee.object.name === 'globalThis' ? callee.property : callee;
            if (name.type === 'Identifier' && name.name === 'setTimeout') refuse(node);
          },
          ImportDeclaration(node) {
            if (!/^(?:node:)?timers(?:\/promises)?$/.test(node.source.value)) return;
            for (const specifier of node.specifiers) if (specifier.imported?.name !== 'setImmediate') refuse(specifier);
          },
        };
      },
    },
  },
};
