// Arguments lie on the stack: a call with some hundred thousand of them ends in a RangeError. So nothing whose length
// others decide may be spread into the arguments of a call that takes any number; append() (src/lib/values/append.ts) and loops
// do the same.
const CALLEES = new Set(['push', 'unshift', 'splice', 'max', 'min', 'fromCharCode', 'fromCodePoint', 'concat']);

export default {
  meta: { name: 'stack' },
  rules: {
    'spread-arguments': {
      create(context) {
        return {
          CallExpression(node) {
            if (node.callee.type !== 'MemberExpression' || !CALLEES.has(node.callee.property.name)) return;
            const spread = node.arguments.find(isUnbounded);
            if (spread !== undefined) {
              context.report({
                node: spread,
                message: 'a list of any length is spread into arguments: use append() or a loop',
              });
            }
          },
        };
      },
    },
  },
};

/** What is written out in the code has the length it has there. */
const isUnbounded = (argument) => argument.type === 'SpreadElement' && argument.argument.type !== 'ArrayExpression';
