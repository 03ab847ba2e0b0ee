import { byteText } from '../../i18n/byteText.ts';
import { fileName } from '../../i18n/fileName.ts';
import { activeLocale, formatLocale, t } from '../../i18n/i18n.ts';
import { directionOf } from '../../i18n/locales.ts';
import { undecryptableTexts } from '../../i18n/undecryptable.ts';
import { parseMarkdown, withoutMarks } from '../../lib/markdown.ts';
import { operator } from '../../operator/index.ts';
import { unknownPersonName } from '../../store/people.ts';
import { isInert } from './archivedNames.ts';
import type { ExportFacts } from './facts.ts';
import { formattedText } from './formattedText.ts';
import type { ExportLayout, Quoted } from './layout.ts';
import { html, Markup } from './markup.ts';
import stylesheet from './page.css?raw';
import type { ExportedFile, ExportedMessage } from './records.ts';

/** The sources of what lies beside a page: on a disk, where a page has no origin, and at a server. */
const beside = "'self' file:";

/** Names those whom a message mentions, in its former versions too. */
function nameIn({ mentions }: ExportedMessage): (userId: string) => string {
  return (userId) => mentions.find(({ id }) => id === userId)?.name ?? unknownPersonName();
}

/**
 * The file for people: it carries its own looks, runs no script and loads nothing, but for the files beside it.
 * @param withFiles true for the page of an archive that has them
 */
export function createPage(withFiles: boolean): ExportLayout {
  const locale = formatLocale();
  const dayFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'full' });
  const timeFormat = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
  const momentFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' });
  const format = (formatter: Intl.DateTimeFormat, timestamp: string): string => {
    const date = new Date(timestamp);
    return Number.isNaN(date.getTime()) ? timestamp : formatter.format(date);
  };
  /** The heading above the messages written last; null before the first of a conversation. */
  let day: string | null = null;

  const name = (text: string) => html`<bdi>${text}</bdi>`;
  const field = (label: string, value: Markup | string) => html`<dt>${label}</dt><dd>${value}</dd>\n`;
  const time = (timestamp: string, formatter = momentFormat) =>
    html`<time datetime="${timestamp}">${format(formatter, timestamp)}</time>`;

  /** @param items null for what the relay could not be asked */
  function section(title: string, items: readonly Markup[] | null): Markup[] {
    const start = html`<section>\n<h2>${title}</h2>\n`;
    const end = html`</section>\n`;
    if (items !== null && items.length > 0)
      return [start, html`<ul class="facts">\n`, ...items, html`</ul>\n`, end];
    const none = items === null ? t('profile.export.notLoaded') : t('profile.export.none');
    return [start, html`<p class="none">${none}</p>\n`, end];
  }

  function profileOf({ account, profile }: ExportFacts): Markup {
    return html`<section>\n<h2>${t('profile.title')}</h2>\n<dl>
${field(t('profile.username'), name(profile.username))}${field(t('profile.email'), name(profile.email))}${field(
  t('profile.memberSince'),
  time(profile.created_at),
)}${field(t('profile.export.userId'), profile.id)}${
  account === null ? [] : [field(t('profile.export.consentedAt'), time(account.consented_at))]
}</dl>\n</section>\n`;
  }

  function factsOf({ contacts, devices, groups }: ExportFacts): Markup[] {
    const people = contacts.map(
      ({ username, email }) => html`<li>${name(username)} <span class="more">${name(email)}</span></li>\n`,
    );
    const groupItems = groups.map((group) => {
      const members = group.members.map(({ username }, at) => html`${at === 0 ? '' : ', '}${name(username)}`);
      return html`<li>${name(group.name ?? t('profile.export.unnamedGroup'))} <span class="more">${members}</span></li>\n`;
    });
    const deviceItems =
      devices?.map(
        (device) =>
          html`<li>${name(device.name)} <span class="more">${time(device.created_at)}</span></li>\n`,
      ) ?? null;
    return [
      ...section(t('profile.export.contacts'), people),
      ...section(t('profile.export.groups'), groupItems),
      ...section(t('profile.export.devices'), deviceItems),
    ];
  }

  /** A message without a text says why. */
  function textOf(record: ExportedMessage): Markup {
    const { content, content_type: type, kind, reason } = record;
    const nameOf = nameIn(record);
    const nodes = type === 'text/markdown' && content !== null ? parseMarkdown(content) : null;
    if (nodes !== null) return html`<div class="text" dir="auto">${formattedText(nodes, nameOf)}</div>`;
    if (kind === 'text' || content !== null) return html`<p class="text" dir="auto">${content ?? ''}</p>`;
    if (kind === 'files') return html``;
    if (kind === 'deleted') return html`<p class="none">${t('profile.export.deleted')}</p>`;
    if (kind === 'unknown') return html`<p class="none">${t('profile.export.unknownKind')}</p>`;
    return html`<p class="none">${t('messages.undecryptable')}. ${reason === null ? '' : t(undecryptableTexts[reason])}</p>`;
  }

  /** A picture, or a player, of a file beside the page. Nothing of it is loaded before it is scrolled to, or played. */
  function shown(
    { description, height, kind, missing, width, ...file }: ExportedFile,
    href: string,
  ): Markup[] {
    const words = description || fileName(file);
    const size =
      width === undefined || height === undefined ? [] : [html` width="${width}" height="${height}"`];
    if (missing !== null || kind === 'file') return [];
    if (kind === 'picture')
      return [html`<a href="${href}"><img src="${href}" alt="${words}" loading="lazy"${size}></a>`];
    if (kind === 'film')
      return [html`<video src="${href}" aria-label="${words}" controls preload="none"${size}></video>`];
    return [html`<audio src="${href}" aria-label="${words}" controls preload="none"></audio>`];
  }

  function filesOf({ files }: ExportedMessage): Markup[] {
    if (files.length === 0) return [];
    const items = files.map((file) => {
      const { description, missing, path } = file;
      const facts = `${t(`profile.export.kind.${file.kind}`)} · ${file.type} · ${byteText(file.size)}`;
      const words = description === '' ? [] : [html` ${name(description)}`];
      const why =
        missing === null ? [] : [html` <span class="none">${t(`profile.export.missing.${missing}`)}</span>`];
      const isLed = path !== null && isInert(path, file.kind);
      const href = isLed ? path.split('/').map(encodeURIComponent).join('/') : null;
      // A browser would run some of what is sent: nothing leads to that from here.
      const named =
        href === null ? name(fileName(file)) : html`<a href="${href}">${name(fileName(file))}</a>`;
      const kept = path !== null && href === null ? [html` <code>${path}</code>`] : [];
      return html`<li>${href === null ? [] : shown(file, href)}${named}${kept} <span class="more">${facts}${words}</span>${why}</li>\n`;
    });
    return [html`<ul class="facts files">\n`, ...items, html`</ul>\n`];
  }

  function quoteOf({ answers }: ExportedMessage, quoted: Quoted | null): Markup[] {
    if (answers === 'disappeared')
      return [html`<p class="none">${t('profile.export.answersDisappeared')}</p>`];
    if (answers === 'missing') return [html`<p class="none">${t('profile.export.answersMissing')}</p>`];
    if (quoted === null) return [];
    const text = quoted.text ?? t('profile.export.noText');
    return [html`<p class="none" dir="auto">${t('profile.export.answers', { name: quoted.name, text })}</p>`];
  }

  /** Earlier versions, and who has reacted with what. */
  function changesOf(record: ExportedMessage): Markup[] {
    const { reactions, versions } = record;
    const earlier = versions.slice(0, -1).map(({ content_type: type, text: written, timestamp }) => {
      const text = type === 'text/markdown' ? withoutMarks(written, nameIn(record)) : written;
      return html`<p class="none" dir="auto">${t('profile.export.earlier', { time: format(momentFormat, timestamp), text })}</p>`;
    });
    const reacted = reactions.map(({ emoji, users }, at) => {
      const names = users.map((user) => user.name).join(', ');
      return html`${at === 0 ? '' : ' · '}${emoji} ${name(names)}`;
    });
    return reacted.length > 0 ? [...earlier, html`<p class="meta">${reacted}</p>`] : earlier;
  }

  function statusOf({ status }: ExportedMessage): string {
    if (status === 'sending') return ` · ${t('profile.export.sending')}`;
    return status === 'failed' ? ` · ${t('profile.export.failed')}` : '';
  }

  function marksOf({
    is_forwarded: isForwarded,
    is_pinned: isPinned,
    is_starred: isStarred,
  }: ExportedMessage): string {
    const marks = [
      ...(isForwarded ? [t('forward.mark')] : []),
      ...(isStarred ? [t('stars.mark')] : []),
      ...(isPinned ? [t('pinned.mark')] : []),
    ];
    return marks.map((mark) => ` · ${mark}`).join('');
  }

  function clockOf({ sender_clock: clock }: ExportedMessage): string {
    return clock === null ? '' : ` · ${t('profile.export.byClock', { time: format(momentFormat, clock) })}`;
  }

  return {
    async head(facts, conversations) {
      const title = t('profile.export.title', { product: operator.productName });
      const policy = `default-src 'none'; style-src 'sha256-${await sha256(stylesheet)}'; base-uri 'none'; form-action 'none'${withFiles ? `; img-src ${beside}; media-src ${beside}` : ''}`;
      const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
      const contents = conversations.map(
        ({ count, title: words }, at) =>
          html`<li><a href="#c${at}">${name(words)}</a> <span class="more">${t('profile.export.messageCount', { count })}</span></li>\n`,
      );
      const start = html`<!doctype html>
<html lang="${locale}" dir="${directionOf(activeLocale())}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Markup(stylesheet)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p class="more">${t('profile.export.madeAt', { time: format(momentFormat, facts.exported_at), zone })}</p>
`;
      const parts = [
        start,
        profileOf(facts),
        ...factsOf(facts),
        ...section(t('profile.export.conversations'), contents),
      ];
      return parts.map(({ text }) => text);
    },

    conversationStart(title, at) {
      day = null;
      return html`<section id="c${at}">\n<h2>${name(title)}</h2>\n`.text;
    },

    message(record, isOwn, quoted) {
      const today = format(dayFormat, record.timestamp);
      const heading =
        today === day
          ? []
          : [html`${day === null ? [] : [html`</ol>\n`]}<h3>${today}</h3>\n<ol class="messages">\n`];
      day = today;
      const meta = html`<p class="meta">${name(record.from_user)} · ${time(record.timestamp, timeFormat)}${marksOf(record)}${clockOf(record)}${statusOf(record)}</p>`;
      return html`${heading}<li${isOwn ? [html` class="own"`] : []}>${meta}${quoteOf(record, quoted)}${textOf(record)}${filesOf(record)}${changesOf(record)}</li>\n`
        .text;
    },

    conversationEnd: () => (day === null ? html`</section>\n` : html`</ol>\n</section>\n`).text,

    tail: () => html`</main>\n</body>\n</html>\n`.text,
  };
}

/** Base64, as a policy names what it allows. */
async function sha256(text: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}
