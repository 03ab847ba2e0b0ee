/**
 * Markdown as messages have it: GFM's emphasis, code, lists, quotes and links. All else (HTML, headings, pictures, tables) is
 * text as it was written. The result is a tree without HTML, which each reader draws by its own means.
 */
import MarkdownIt from 'markdown-it';
import { linkParts, namedLink, type TextLink } from './links.ts';

export type MarkdownNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  /** Names a person by their id alone: the words that stood there may be anybody's name. */
  | { readonly kind: 'mention'; readonly userId: string }
  /** Named by what stands behind its opening fence, mostly a language; may be empty. */
  | { readonly kind: 'codeBlock'; readonly text: string; readonly name: string }
  | { readonly kind: 'link'; readonly link: TextLink; readonly children: readonly MarkdownNode[] }
  | { readonly kind: 'list'; readonly start: number | null; readonly children: readonly MarkdownNode[] }
  | { readonly kind: PlainKind; readonly children: readonly MarkdownNode[] };

type PlainKind = 'paragraph' | 'quote' | 'item' | 'strong' | 'emphasis' | 'deleted';
type Branch = Extract<MarkdownNode, { readonly children: unknown }>;

/** Code units, tokens, and quotes and lists within each other, beyond which a text is shown as it was written. */
export const markdownLimits = { length: 16 * 1024, tokens: 4000, depth: 8 } as const;

const parser = new MarkdownIt('zero', { maxNesting: 24 }).enable([
  'blockquote',
  'fence',
  'list',
  'newline',
  'escape',
  'backticks',
  'emphasis',
  'strikethrough',
  'link',
  'text_join',
]);
parser.validateLink = (url) => personIn(url) !== null || namedLink('', url) !== null;

const kinds: Readonly<Record<string, PlainKind>> = {
  paragraph: 'paragraph',
  blockquote: 'quote',
  list_item: 'item',
  strong: 'strong',
  em: 'emphasis',
  s: 'deleted',
};

/** Reads a text; null for one that is beyond {@link markdownLimits}, of which nothing but the text can be shown. */
export function parseMarkdown(text: string): readonly MarkdownNode[] | null {
  if (text.length > markdownLimits.length) return null;
  const blocks = parser.parse(text, {});
  const tokens = blocks.flatMap((token) => token.children ?? [token]);
  // Below its own limit the parser would leave out what is quoted deeper.
  const isDeep = blocks.some(({ level }) => level > markdownLimits.depth * 2);
  if (isDeep || tokens.length > markdownLimits.tokens) return null;
  return treeOf(tokens);
}

type Token = ReturnType<typeof parser.parse>[number];

function treeOf(tokens: readonly Token[]): readonly MarkdownNode[] {
  const root: MarkdownNode[] = [];
  const open: MarkdownNode[][] = [root];
  let isInLink = false;
  for (const token of tokens) {
    const siblings = open.at(-1) ?? root;
    if (token.nesting < 0) {
      if (token.type === 'link_close') isInLink = false;
      open.pop();
    } else if (token.nesting > 0) {
      const children: MarkdownNode[] = [];
      siblings.push(branchOf(token, children));
      open.push(children);
      isInLink ||= token.type === 'link_open';
    } else siblings.push(...leavesOf(token, isInLink));
  }
  return root.flatMap(withHosts);
}

function branchOf(token: Token, children: readonly MarkdownNode[]): Branch {
  const name = token.type.replace(/_open$/, '');
  if (name === 'link') {
    return { kind: 'link', link: { href: String(token.attrGet('href')), hiddenHost: null }, children };
  }
  if (name === 'bullet_list') return { kind: 'list', start: null, children };
  if (name === 'ordered_list') return { kind: 'list', start: Number(token.attrGet('start') ?? 1), children };
  return { kind: kinds[name] ?? 'paragraph', children };
}

function leavesOf({ content, info, type }: Token, isInLink: boolean): MarkdownNode[] {
  if (type === 'softbreak' || type === 'hardbreak') return [{ kind: 'text', text: '\n' }];
  if (type === 'code_inline') return [{ kind: 'code', text: content }];
  if (type === 'fence') return [{ kind: 'codeBlock', text: content.replace(/\n$/, ''), name: info.trim() }];
  if (isInLink) return [{ kind: 'text', text: content }];
  return linkParts(content).map(({ link, text }) =>
    link === undefined ? { kind: 'text', text } : { kind: 'link', link, children: [{ kind: 'text', text }] },
  );
}

function personIn(url: string): string | null {
  return /^sinetti:user\/([\w-]{1,64})$/.exec(url)?.[1] ?? null;
}

/** Returns the ids of those whom a formatted text mentions, no id twice: in code, and beyond the limits, nobody. */
export function mentionsIn(text: string): readonly string[] {
  return [...new Set(mentionedBy(parseMarkdown(text) ?? []))];
}

function mentionedBy(nodes: readonly MarkdownNode[]): readonly string[] {
  return nodes.flatMap((node) => {
    if (node.kind === 'mention') return [node.userId];
    return 'children' in node ? mentionedBy(node.children) : [];
  });
}

/** Has a link say its host where its words don't; one to nowhere is but its words. */
function withHosts(node: MarkdownNode): readonly MarkdownNode[] {
  if (!('children' in node)) return [node];
  const children = node.children.flatMap(withHosts);
  if (node.kind !== 'link') return [{ ...node, children }];
  const userId = personIn(node.link.href);
  if (userId !== null) return [{ kind: 'mention', userId }];
  const link = namedLink(textOf(children), node.link.href);
  return link === null ? children : [{ ...node, link, children }];
}

/** Returns a text without its marks, as one line for each paragraph. @param nameOf the current name of a person */
export function withoutMarks(text: string, nameOf: (userId: string) => string): string {
  const nodes = parseMarkdown(text);
  return nodes === null ? text : linesOf(nodes, nameOf).join('\n');
}

function linesOf(nodes: readonly MarkdownNode[], nameOf: (userId: string) => string): string[] {
  return nodes.flatMap((node) =>
    node.kind === 'list' || node.kind === 'item' || node.kind === 'quote'
      ? linesOf(node.children, nameOf)
      : [textOf([node], nameOf)],
  );
}

function textOf(nodes: readonly MarkdownNode[], nameOf: (userId: string) => string = () => ''): string {
  const said = nodes.map((node) => {
    if (node.kind === 'mention') return `@${nameOf(node.userId)}`;
    return 'children' in node ? textOf(node.children, nameOf) : node.text;
  });
  return said.join('');
}
