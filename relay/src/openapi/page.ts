import { uploadType } from '../../contract/blobs.ts';
import { bytesType, partsType } from '../../contract/index.ts';
import type { OpenApiDocument } from './document.ts';
import type { Content, Operation } from './operation.ts';

/**
 * The document as a page for people: no script, no inline style, nothing from elsewhere.
 * @returns HTML; every text of the document is escaped
 */
export function renderPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const sections = document.tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    const calls = own.map(({ path, method, operation }) => renderCall(path, method, operation)).join('');
    return `<section id="${anchor(name)}"><h2>${escape(name)}</h2>${calls}</section>`;
  });
  const contents = document.tags.map(({ name }) => `<li><a href="#${anchor(name)}">${escape(name)}</a></li>`);
  const { title, description } = document.info;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="stylesheet" href="/api/docs.css">
</head>
<body>
<header><h1>${escape(title)}</h1><p>${escape(description)}</p>
<p>For programs: <a href="/api/openapi.json">openapi.json</a></p></header>
<nav aria-label="Sections"><ul>${contents.join('')}</ul></nav>
<main>${sections.join('')}</main>
</body>
</html>
`;
}

function renderCall(path: string, method: string, operation: Operation): string {
  const parts = [
    `<h3><code>${method} ${escape(path)}</code></h3>`,
    `<p>${escape(operation.summary)}</p><p class="access">${escape(operation.description)}</p>`,
    renderParameters(operation),
    ...renderContent('Request', operation.requestBody?.content),
    renderAnswers(operation),
  ];
  return `<article id="${operation.operationId}">${parts.join('')}</article>`;
}

function renderParameters({ parameters = [] }: Operation): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: where, required, schema, example }) => {
    const cells = [`<code>${escape(name)}</code>`, where, required ? 'required' : 'optional'];
    const shown = example === undefined ? '' : `<code>${escape(JSON.stringify(example))}</code>`;
    return `<tr>${[...cells, `<code>${escape(JSON.stringify(schema))}</code>`, shown].map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  const head = ['Parameter', 'In', '', 'Schema', 'Example']
    .map((text) => `<th scope="col">${text}</th>`)
    .join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function renderAnswers({ responses }: Operation): string {
  const answers = Object.entries(responses).map(([status, { description, content }]) => {
    const [body] = renderContent(`${status} ${description}`, content);
    if (body !== undefined) return body;
    return `<li>${escape(status)} ${escape(description).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</li>`;
  });
  const successes = answers.filter((answer) => !answer.startsWith('<li>'));
  return `${successes.join('')}<h4>Answers without a body, and errors</h4><ul>${answers.filter((answer) => answer.startsWith('<li>')).join('')}</ul>`;
}

/** Nothing for an answer that has examples of errors alone. */
function renderContent(title: string, content: Content = {}): string[] {
  const json = content['application/json'];
  if (json?.example !== undefined) return [renderJson(title, json.schema, json.example)];
  const parts = content[partsType];
  if (parts !== undefined) return [renderJson(`${title}, as ${partsType}`, parts.schema, parts.example)];
  const type = [bytesType, uploadType].find((one) => content[one as keyof Content] !== undefined);
  if (type === undefined) return [];
  return [`<h4>${escape(title)}</h4><p>Bytes, as <code>${type}</code></p>`];
}

function renderJson(title: string, schema: unknown, example: unknown): string {
  return `<h4>${escape(title)}</h4><pre><code>${escape(JSON.stringify(example, null, 2))}</code></pre>
<details><summary>Schema</summary><pre><code>${escape(JSON.stringify(schema, null, 2))}</code></pre></details>`;
}

const anchor = (name: string) => name.toLowerCase();

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
