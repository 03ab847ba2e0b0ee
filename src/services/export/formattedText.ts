import type { MarkdownNode } from '../../lib/markdown.ts';
import { html, type Markup } from './markup.ts';

/** Writes the tree of a formatted message as HTML: the elements are named here, and all that people wrote is escaped. */
export function formattedText(nodes: readonly MarkdownNode[], nameOf: (userId: string) => string): Markup[] {
  return nodes.map((node) => written(node, nameOf));
}

function written(node: MarkdownNode, nameOf: (userId: string) => string): Markup {
  if (node.kind === 'mention') return html`<bdi>@${nameOf(node.userId)}</bdi>`;
  if ('text' in node) {
    if (node.kind === 'text') return html`${node.text}`;
    return node.kind === 'code'
      ? html`<code>${node.text}</code>`
      : html`<pre><code>${node.text}</code></pre>`;
  }
  const inside = formattedText(node.children, nameOf);
  switch (node.kind) {
    case 'link': {
      const { hiddenHost, href } = node.link;
      const host = hiddenHost === null ? [] : [html` (<bdi>${hiddenHost}</bdi>)`];
      return html`<a href="${href}" rel="noopener noreferrer nofollow">${inside}</a>${host}`;
    }
    case 'list':
      return node.start === null ? html`<ul>${inside}</ul>` : html`<ol start="${node.start}">${inside}</ol>`;
    case 'item':
      return html`<li dir="auto">${inside}</li>`;
    case 'quote':
      return html`<blockquote>${inside}</blockquote>`;
    case 'strong':
      return html`<strong>${inside}</strong>`;
    case 'emphasis':
      return html`<em>${inside}</em>`;
    case 'deleted':
      return html`<del>${inside}</del>`;
    case 'paragraph':
      return html`<p dir="auto">${inside}</p>`;
    default:
      throw node satisfies never;
  }
}
