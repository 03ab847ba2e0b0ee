import { RichText } from '../i18n/RichText.tsx';

/** Names shown before it says how many more there are. */
const namesShown = 5;

/** Names in a row, each by itself: the direction of one must not turn the others. */
export function Names({ names }: { names: readonly string[] }) {
  const shown = names.slice(0, names.length === namesShown + 1 ? namesShown + 1 : namesShown);
  const row = (
    <>
      {shown.map((name, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- two people may have the same name
        <span key={index}>
          {index > 0 && ', '}
          <bdi>{name}</bdi>
        </span>
      ))}
    </>
  );
  const more = names.length - shown.length;
  return more === 0 ? row : <RichText id="events.andMore" parts={{ names: row }} values={{ count: more }} />;
}
