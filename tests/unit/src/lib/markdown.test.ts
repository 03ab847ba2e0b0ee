import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type MarkdownNode,
  markdownLimits,
  parseMarkdown,
  withoutMarks as plainOf,
} from '#src/lib/markdown.ts';

const withoutMarks = (text: string) => plainOf(text, (userId) => userId);

/** A tree as one line: kinds, and what they hold. */
function told(nodes: readonly MarkdownNode[] | null): string | null {
  return nodes === null ? null : nodes.map(toldNode).join('');
}

function toldNode(node: MarkdownNode): string {
  if ('text' in node)
    return node.kind === 'text'
      ? node.text
      : `{${node.kind} ${'name' in node ? `${node.name}: ` : ''}${node.text}}`;
  if (node.kind === 'mention') return `{mention ${node.userId}}`;
  const inside = told(node.children);
  if (node.kind === 'link') return `{link ${node.link.href} ${node.link.hiddenHost ?? '-'} ${inside}}`;
  if (node.kind === 'list') return `{list ${node.start ?? '-'} ${inside}}`;
  return `{${node.kind} ${inside}}`;
}

function all(nodes: readonly MarkdownNode[]): MarkdownNode[] {
  return nodes.flatMap((node) => ['children' in node ? all(node.children) : [], node].flat());
}

describe('Markdown of messages', () => {
  it.each([
    ['**a _b_** ~~c~~ `d*`', '{paragraph {strong a {emphasis b}} {deleted c} {code d*}}'],
    ['one\ntwo\n\nthree', '{paragraph one\ntwo}{paragraph three}'],
    ['- a\n- b\n  3. c', '{list - {item {paragraph a}}{item {paragraph b\n3. c}}}'],
    ['3. a\n4. b', '{list 3 {item {paragraph a}}{item {paragraph b}}}'],
    ['> a\n> > b', '{quote {paragraph a}{quote {paragraph b}}}'],
    ['```js\na *b*\n```', '{codeBlock js: a *b*}'],
    ['my_own_name \\*so\\*', '{paragraph my_own_name *so*}'],
    [
      'see https://a.example/b_c_d.',
      '{paragraph see {link https://a.example/b_c_d - https://a.example/b_c_d}.}',
    ],
    ['[@*No* name](sinetti:user/a-1) hi', '{paragraph {mention a-1} hi}'],
    ['[my *site*](https://a.example)', '{paragraph {link https://a.example/ a.example my {emphasis site}}}'],
  ])('%j is %s', (text, tree) => {
    expect(told(parseMarkdown(text))).toBe(tree);
  });

  it.each([
    '# a',
    '---',
    '| a |\n|---|',
    '![a](https://a.example/b.png)',
    '<b>a</b>',
    '&lt;',
    '[a]: https://a.example',
  ])('%j stays as it was written', (text) => {
    const nodes = parseMarkdown(text) ?? [];
    expect(
      all(nodes).filter(({ kind }) => kind !== 'text' && kind !== 'paragraph' && kind !== 'link'),
    ).toEqual([]);
    expect(withoutMarks(text).replace(/[[\]()!]/g, '')).toContain(
      text.split('\n')[0]?.replace(/[[\]()!]|https.*$/g, ''),
    );
  });

  it.each([
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](data:text/html,b)',
    '[a](vbscript:b)',
    '[a](file:///etc)',
    '[a](//evil.example)',
    '[a](/here)',
    '[a](https://bank.example@evil.example)',
    '[a](sinetti:room/b)',
    '[a](sinetti:user/a/b)',
    '[a]( java\nscript:alert(1))',
  ])('%j is no link', (text) => {
    const links = all(parseMarkdown(text) ?? []).filter(({ kind }) => kind === 'link');
    expect(links).toEqual([]);
  });

  it.each([
    ['[https://bank.example](https://evil.example/)', 'evil.example'],
    ['[https://evil.example.bank.example](https://evil.example)', 'evil.example'],
    ['[bank.example evil.example](https://evil.example)', 'evil.example'],
    ['[bank\u202E.example](https://evil.example)', 'evil.example'],
    ['[**https**://evil.example](https://evil.example)', '-'],
    ['[a@bank.example](mailto:b@evil.example)', 'b@evil.example'],
  ])('%j says that it leads to %s', (text, host) => {
    const [link] = all(parseMarkdown(text) ?? []).filter(({ kind }) => kind === 'link');
    expect(link?.kind === 'link' && (link.link.hiddenHost ?? '-')).toBe(host);
  });

  it('shows as it was written what is too long, too deep or too many', () => {
    expect(parseMarkdown('*'.repeat(1024 * 1024))).toBeNull();
    expect(parseMarkdown('>'.repeat(10_000))).toBeNull();
    expect(parseMarkdown('- '.repeat(8000))).toBeNull();
    expect(parseMarkdown('*a*'.repeat(markdownLimits.tokens))).toBeNull();
    expect(told(parseMarkdown(`${'> '.repeat(markdownLimits.depth)}a`))).toContain('{paragraph a}');
    expect(withoutMarks('>'.repeat(100))).toBe('>'.repeat(100));
  });

  it('loses no letter of 10,000 hostile texts, and makes links of nothing but the web and mail', () => {
    const piece = fc.constantFrom(
      '*',
      '**',
      '_',
      '~~',
      '`',
      '```\n',
      '> ',
      '- ',
      '1. ',
      '[',
      '](',
      ')',
      '](https://a.example)',
      '\\',

      '\n',
      '\n\n',
      '    ',
      '\t',
      '<script>',
      '&amp;',
      '\u0000',
      '\u202E',
      '\uD800',
      'javascript:',
      'data:',
      '!',
      'a',
      'b',
      'ä',
      '😀',
      '(',
      '"',
      "'",
      '|',
      '#',
      '](sinetti:user/',
      '0',
      '\r\n',
      '\u2028',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        const nodes = parseMarkdown(text);
        if (nodes === null) return;
        const hrefs = all(nodes).flatMap((node) => (node.kind === 'link' ? [node.link.href] : []));
        expect(hrefs.filter((href) => !/^(?:https?:\/\/|mailto:)/.test(href))).toEqual([]);
        // The words of a mention make way for the name of whom it is of.
        if (all(nodes).some(({ kind }) => kind === 'mention')) return;
        const letters = (of: string) => [...of.matchAll(/[aä😀]/gu)].length;
        const shown = all(nodes).map((node) =>
          'text' in node
            ? node.text + ('name' in node ? node.name : '')
            : 'link' in node
              ? node.link.href
              : '',
        );
        expect(letters(shown.join(''))).toBeGreaterThanOrEqual(letters(text));
      }),
      { numRuns: 10_000 },
    );
  });
});
