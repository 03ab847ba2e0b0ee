// Makes mutants of the source: small faults, each of which some test ought to notice. All of a file's mutants are built
// into it, and `globalThis.mutant` switches one of them on, so that thousands need one build.
import { parseAst } from 'vite';

const FLIPS = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
};

/** Folders of src that are mutated. */
export const MUTATED_FOLDERS = ['codec', 'schedule', 'framing', 'tree', 'group'];
/** Folders that have checks of SPEC.md. */
export const CHECKED_FOLDERS = [...MUTATED_FOLDERS, 'structs'];

/** Calls whose only effect is that they wipe: no result tells whether they are there. */
const UNSEEN_CALLS = /^(wipe|wipeRatchet|wipeSignatureKey)\(/;

const SKIPPED = new Set([
  'TSTypeAliasDeclaration',
  'TSInterfaceDeclaration',
  'ImportDeclaration',
  'TSAsExpression.typeAnnotation',
]);

/**
 * @param {string} file relative to src, which starts the names
 * @param {string} code TypeScript
 * @returns {{ code: string, mutants: { name: string, line: number }[] }}
 */
export function mutate(file, code) {
  const edits = [];
  const mutants = [];
  const counts = new Map();
  walk(parseAst(code, { lang: 'ts' }), [], null);
  return { code: apply(code, edits), mutants };

  function add(node, scope, what, edit) {
    const label = `${file} ${scope.join('.')} ${what}`;
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    const name = count === 1 ? label : `${label} (${count})`;
    mutants.push({ name, line: code.slice(0, node.start).split('\n').length });
    edits.push({
      start: node.start,
      end: node.end,
      make: edit(`globalThis.mutant(${JSON.stringify(name)})`),
    });
  }

  function walk(node, scope, parent) {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const item of node) walk(item, scope, parent);
      return;
    }
    if (typeof node.type !== 'string') return;
    if (node.type.startsWith('TS') && node.type !== 'TSAsExpression' && node.type !== 'TSNonNullExpression') {
      if (node.type !== 'TSSatisfiesExpression') return;
    }
    if (SKIPPED.has(node.type)) return;
    const name =
      node.id?.name ??
      (node.type === 'MethodDefinition' || node.type === 'Property' ? keyOf(node.key) : null);
    const isNamed = name !== null && /Function|Method|Class|VariableDeclarator|Property/.test(node.type);
    const inside = isNamed ? [...scope, name] : scope;
    visit(node, inside, parent);
    for (const [field, child] of Object.entries(node)) {
      if (
        ['type', 'start', 'end', 'typeAnnotation', 'returnType', 'typeArguments', 'typeParameters'].includes(
          field,
        )
      )
        continue;
      if (field === 'key' && !node.computed) continue;
      walk(child, inside, node);
    }
  }

  function visit(node, scope, parent) {
    const text = (part) => (render) => render(part.start, part.end);
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression': {
        const flipped =
          FLIPS[node.operator] ?? (isNumeric(node) ? { '+': '-', '-': '+' }[node.operator] : undefined);
        if (flipped === undefined) return;
        const [left, right] = [text(node.left), text(node.right)];
        add(
          node,
          scope,
          `${shown(node)}: ${node.operator} becomes ${flipped}`,
          (isOn) => (render) =>
            `(${isOn} ? (${left(render)}) ${flipped} (${right(render)}) : (${left(render)}) ${node.operator} (${right(render)}))`,
        );
        return;
      }
      case 'IfStatement':
        if (!isGuard(node.consequent)) return;
        add(
          node.test,
          scope,
          `if (${shown(node.test)}) is never so${checkIn(node.consequent)}`,
          (isOn) => (render, whole) => `(!${isOn} && (${whole(render)}))`,
        );
        return;
      case 'ExpressionStatement': {
        const source = code.slice(node.start, node.end);
        if (
          node.expression.type !== 'CallExpression' ||
          UNSEEN_CALLS.test(source) ||
          source.startsWith('super(')
        )
          return;
        add(
          node,
          scope,
          `${shown(node)} is left out${checkAt(node)}`,
          (isOn) => (render, whole) => `{ if (!${isOn}) { ${whole(render)} } }`,
        );
        return;
      }
      case 'ThrowStatement':
        if (parent?.type === 'IfStatement' || isOnlyStatement(parent, node)) return;
        add(
          node,
          scope,
          `${shown(node)} is left out${checkAt(node)}`,
          (isOn) => (render, whole) => `{ if (!${isOn}) { ${whole(render)} } }`,
        );
        return;
      case 'Literal':
        if (parent?.type === 'ImportDeclaration' || parent?.type === 'ExportNamedDeclaration') return;
        if (typeof node.value === 'boolean') {
          add(
            node,
            scope,
            `${node.raw} becomes ${!node.value}`,
            (isOn) => () => `(${isOn} ? ${!node.value} : ${node.raw})`,
          );
        } else if (typeof node.value === 'number' || node.bigint) {
          const one = node.bigint ? '1n' : '1';
          const context = parent === null ? '' : ` in ${shown(parent)}`;
          add(
            node,
            scope,
            `${node.raw} becomes one more${context}`,
            (isOn) => () => `(${isOn} ? ${node.raw} + ${one} : ${node.raw})`,
          );
        }
        return;
      case 'UnaryExpression':
        if (node.operator !== '!') return;
        add(
          node,
          scope,
          `${shown(node)} loses its !`,
          (isOn) => (render) =>
            `(${isOn} ? !!(${text(node.argument)(render)}) : !(${text(node.argument)(render)}))`,
        );
        return;
      default:
    }
  }

  /** Names the check of SPEC.md that a refusal belongs to. */
  function checkIn(statement) {
    const id = /["'`]([A-Z]+-\d{2})\b/.exec(code.slice(statement.start, statement.end));
    return id === null ? '' : ` [${id[1]}]`;
  }

  /** Names the check that a call or a throw starts with, or the call that is all of the function it hands to `blaming`. */
  function checkAt(node) {
    const id =
      /^(?:blaming\([\w.]+, \(\) => )?[\w.]+ ?(?:new CryptoError)?\((?:\w+, |'[\w-]+', )?["'`]([A-Z]+-\d{2})\b/.exec(
        code.slice(node.start, node.end),
      );
    return id === null ? '' : ` [${id[1]}]`;
  }

  function isOnlyStatement(parent, node) {
    return parent?.type === 'BlockStatement' && parent.body.length === 1 && parent.body[0] === node;
  }

  function shown(node) {
    const line = code.slice(node.start, node.end).replaceAll(/\s+/g, ' ');
    return line.length > 70 ? `${line.slice(0, 70)}…` : line;
  }

  function isNumeric(node) {
    return ![node.left, node.right].some(
      (side) => side.type === 'TemplateLiteral' || typeof side.value === 'string',
    );
  }
}

/** The ID of the check that a mutant leaves out, by its name, or null. */
export function checkOf(name) {
  return /\[([A-Z]+-\d{2})\]/.exec(name)?.[1] ?? null;
}

/** Returns whether a statement refuses, returns or goes on, as one after an `if` that guards does. */
function isGuard(statement) {
  const last = statement.type === 'BlockStatement' ? statement.body.at(-1) : statement;
  if (last === undefined) return false;
  if (['ThrowStatement', 'ReturnStatement', 'ContinueStatement'].includes(last.type)) return true;
  return last.type === 'ExpressionStatement' && last.expression.type === 'CallExpression';
}

function keyOf(key) {
  return key?.name ?? key?.value ?? null;
}

/** Writes the edits, which lie inside one another or apart, into the text. */
function apply(code, edits) {
  const sorted = edits.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const render = (start, end, from) => {
    let out = '';
    let at = start;
    for (let index = from; index < sorted.length; index += 1) {
      const edit = sorted[index];
      if (edit.start < at) continue;
      if (edit.start >= end) break;
      if (edit.end > end) continue;
      out += code.slice(at, edit.start);
      const inner = (innerStart, innerEnd) => render(innerStart, innerEnd, index + 1);
      out += edit.make(inner, (again) => again(edit.start, edit.end));
      at = edit.end;
    }
    return out + code.slice(at, end);
  };
  return render(0, code.length, 0);
}
