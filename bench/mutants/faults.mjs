// The places of a source where one token or statement can be wrong, and what is there then.

import ts from 'typescript';

/** @typedef {{ start: number, end: number, operator: string, to: string }} Fault */

/** @type {Record<string, string>} */
const SWAPPED = {
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '+=': '-=',
  '-=': '+=',
};

/** @param {string} file @param {string} text @returns {Fault[]} */
export function faultsOfTypeScript(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {Fault[]} */
  const faults = [];
  /** @param {ts.Node} node @param {string} operator @param {string} to */
  const add = (node, operator, to) =>
    faults.push({ start: node.getStart(source), end: node.end, operator, to });
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    const condition =
      ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)
        ? node.expression
        : ts.isForStatement(node) && node.condition;
    if (condition) add(condition, 'negate', `!(${condition.getText(source)})`);
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      add(node, 'negate', node.operand.getText(source));
    }
    if (ts.isBinaryExpression(node)) {
      const to = SWAPPED[node.operatorToken.getText(source)];
      if (to) add(node.operatorToken, 'swap operator', to);
    }
    if (ts.isConditionalExpression(node)) {
      const [test, yes, no] = [node.condition, node.whenTrue, node.whenFalse];
      const to = `${test.getText(source)} ? ${no.getText(source)} : ${yes.getText(source)}`;
      add(node, 'swap arms', to);
    }
    if (ts.isAwaitExpression(node)) add(node, 'remove await', node.expression.getText(source));
    if (isDroppable(node)) add(node, 'drop statement', ';');
    const literal = otherLiteral(node);
    if (literal !== undefined) add(node, 'replace literal', literal);
    if (isFunctionWithStatements(node)) {
      const start = node.body.getStart(source) + 1;
      const to = /\.tsx?$/.test(file) ? ' return undefined as never;' : ' return;';
      faults.push({ start, end: start, operator: 'return early', to });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return faults;
}

/** @param {ts.Node} node */
function isDroppable(node) {
  if (ts.isReturnStatement(node)) return node.expression === undefined;
  if (ts.isExpressionStatement(node)) return !ts.isStringLiteral(node.expression); // 'use client'
  return ts.isThrowStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node);
}

/** @param {ts.Node} node @returns {node is ts.FunctionLikeDeclaration & { body: ts.Block }} */
function isFunctionWithStatements(node) {
  if (!ts.isFunctionLike(node) || ts.isConstructorDeclaration(node) || !('body' in node))
    return false;
  return node.body !== undefined && ts.isBlock(node.body) && node.body.statements.length > 0;
}

/** Not for prose, whose wording is no promise: a text with a space. @param {ts.Node} node */
function otherLiteral(node) {
  if (node.kind === ts.SyntaxKind.TrueKeyword) return 'false';
  if (node.kind === ts.SyntaxKind.FalseKeyword) return 'true';
  const parent = node.parent;
  if (parent && 'name' in parent && parent.name === node) return undefined;
  if (ts.isNumericLiteral(node)) return String(Number(node.text) + 1);
  if (!ts.isStringLiteralLike(node) || node.text.includes(' ')) return undefined;
  const isModule =
    ts.isCallExpression(parent) && parent.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isModule ? undefined : node.text === '' ? "'other'" : "''";
}

const RUST_NOISE =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|r(#*)"[\s\S]*?"\1|b?"(?:\\[\s\S]|[^"\\])*"|b?'(?:\\[^']+|[^'\\])'|#!?\[[^\]]*\]/g;
const NOT_DROPPED = 'let|use|pub|mod|const|static|type|fn|extern|return|impl|struct';

/** By tokens: what does not compile is replaced. Without the tests, which are at a file's end. @param {string} whole */
export function faultsOfRust(whole) {
  const tests = whole.search(/^#\[cfg\((all\()?test\b/m);
  const text = tests < 0 ? whole : whole.slice(0, tests);
  const code = text.replace(RUST_NOISE, (noise) => noise.replace(/[^\n]/g, ' '));
  /** @type {Fault[]} */
  const faults = [];
  /** @param {RegExp} pattern one group, the place @param {string} operator @param {(found: string, all: string) => string | undefined} other */
  const each = (pattern, operator, other) => {
    for (const match of code.matchAll(pattern)) {
      const [start = 0, end = 0] = match.indices?.[1] ?? [];
      const to = other(text.slice(start, end), match[0]);
      if (to !== undefined) faults.push({ start, end, operator, to });
    }
  };
  // rustfmt puts spaces around operators, and none around the signs of generics and references.
  each(
    /(?<=[\w)\]?}] )([=!<>]=|[<>%*/-]|&&|\|\||[+-]=|\+(?! ['A-Z?]))(?= )/dg,
    'swap operator',
    (it) => SWAPPED[it],
  );
  each(/\b(?:if|while) (?!let\b)([^{};]*?) (?:\{|=>)/dg, 'negate', (it) =>
    /\blet\b/.test(it) ? undefined : `!(${it})`,
  );
  each(/\b(true|false)\b/dg, 'replace literal', (it) => (it === 'true' ? 'false' : 'true'));
  each(/(?<![\w.'])(\d[\d_]*)(?![\w'])(?!\.\d)/dg, 'replace literal', (it) =>
    String(Number(it.replaceAll('_', '')) + 1),
  );
  each(
    new RegExp(`[;{}]\\s*\\n\\s*((?!(?:${NOT_DROPPED})\\b)[\\w*(&][^;{}]*;)(?=\\s*\\n)`, 'dg'),
    'drop statement',
    () => '',
  );
  each(/\bfn \w+[^;{]*\{()/dg, 'return early', (_, signature) => {
    const type = signature.split(' -> ').slice(1).pop();
    if (type === undefined) return ' return;';
    return ` return ${/^Result\b/.test(type) ? 'Ok(Default::default())' : 'Default::default()'};`;
  });
  for (const { 0: found, index } of text.matchAll(RUST_NOISE)) {
    if (!/^"[^\s"]+"$/.test(found)) continue;
    faults.push({ start: index, end: index + found.length, operator: 'replace literal', to: '""' });
  }
  return faults;
}
