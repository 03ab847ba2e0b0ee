import { clsx } from 'clsx';
import { t } from '../../i18n/i18n.ts';
import { visibleName } from '../../lib/people.ts';
import type { PublicField } from '../../store/proof.ts';
import { Disclosure } from '../../ui/Disclosure.tsx';
import styles from './EntryBytes.module.css';

/** Bytes that are shown of an entry, at once and when more are asked for, and characters of a field. A short text has fewer. */
const shownFirst = 160;
const shownMost = 512;
const rowLength = 8;

interface EntryBytesProps {
  bytes: Uint8Array;
  fields: readonly PublicField[];
}

interface PlacedField extends PublicField {
  readonly from: number;
  readonly to: number;
}

/** The bytes of an entry: those in the open marked and named, the others sealed. */
export function EntryBytes({ bytes, fields }: EntryBytesProps) {
  const placed = placedFields(fields);
  const sealedFrom = placed.at(-1)?.to ?? 0;
  const shown = Math.min(shownMost, bytes.length);
  const first = Math.min(shownFirst, shown);
  const { length } = bytes;
  return (
    <div className={styles.entry}>
      <p className={styles.count}>
        {shown === length ? t('prove.last.bytes', { length }) : t('prove.last.bytesFirst', { length, shown })}
      </p>
      <Hex bytes={bytes} from={0} to={first} fields={placed} />
      {shown > first && (
        <Disclosure summary={t('prove.last.bytesMore', { from: first, to: shown - 1 })}>
          <Hex bytes={bytes} from={first} to={shown} fields={placed} />
        </Disclosure>
      )}
      {placed.length === 0 ? (
        <p>{t('prove.last.unreadable')}</p>
      ) : (
        <>
          <h4 className={styles.open}>{t('prove.last.open')}</h4>
          <ul className={styles.fields}>
            {placed.map((field, index) => (
              <li key={field.name} className={styles.field}>
                <span className={clsx(styles.range, markOf(index))}>{rangeOf(field)}</span>
                <span>{t(`prove.last.byte.${field.name}`)}</span>
                <code className={styles.value}>{visibleName(field.value.slice(0, shownMost))}</code>
              </li>
            ))}
          </ul>
          <p>{t('prove.last.sealed', { length: length - sealedFrom })}</p>
        </>
      )}
    </div>
  );
}

function placedFields(fields: readonly PublicField[]): PlacedField[] {
  let from = 0;
  return fields.map((field) => {
    const to = from + field.length;
    const placed = { ...field, from, to };
    from = to;
    return placed;
  });
}

function rangeOf({ from, to }: PlacedField): string {
  return to - from === 1 ? String(from) : `${from}–${to - 1}`;
}

/** Neighbours look different. */
function markOf(index: number): string | undefined {
  return index % 2 === 0 ? styles.even : styles.odd;
}

interface HexProps {
  bytes: Uint8Array;
  fields: readonly PlacedField[];
  from: number;
  to: number;
}

function Hex({ bytes, fields, from, to }: HexProps) {
  const rows = Array.from({ length: Math.ceil((to - from) / rowLength) }, (_, row) => from + row * rowLength);
  return (
    <ol className={styles.hex} dir="ltr">
      {rows.map((start) => (
        <li key={start} className={styles.row}>
          <span className={styles.offset}>{String(start).padStart(3, '0')}</span>
          <span className={styles.octets}>
            {Array.from(bytes.subarray(start, Math.min(start + rowLength, to)), (octet, at) => (
              // oxlint-disable-next-line react/no-array-index-key -- a byte's place is what it is known by
              <Octet key={at} octet={octet} field={fields.findIndex((one) => start + at < one.to)} />
            ))}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** @param props.field the number of the field that it belongs to; -1 for ciphertext */
function Octet({ field, octet }: { field: number; octet: number }) {
  return (
    <span className={clsx(styles.octet, field >= 0 && markOf(field))}>
      {octet.toString(16).padStart(2, '0')}
    </span>
  );
}
