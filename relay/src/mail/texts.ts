import type { AccountChangeKind } from '../../contract/index.ts';

/** Changes that a person is told of by email: those that their devices are told of, and two that these notice by themselves. */
export type MailedChange = AccountChangeKind | 'account-deleted' | 'device-added';

interface Sentence {
  readonly en: string;
  readonly fi: string;
}

const sentences: Readonly<Record<MailedChange, Sentence>> = {
  'account-deleted': { en: 'Your account was deleted', fi: 'Tilisi poistettiin' },
  'device-added': {
    en: 'A new browser was signed in to your account',
    fi: 'Tilillesi kirjauduttiin uudella selaimella',
  },
  'device-revoked': {
    en: 'A device was removed from your account',
    fi: 'Tililtäsi poistettiin laite',
  },
  email: { en: 'The email address of your account was changed', fi: 'Tilisi sähköpostiosoite vaihdettiin' },
  'message-backup': {
    en: 'Copies of messages were deleted from your message backup',
    fi: 'Viestien kopioita poistettiin viestien varmuuskopiosta',
  },
  'moved-on': {
    en: 'Your account was moved on to a new key, and all its devices were removed',
    fi: 'Tilisi siirrettiin uuteen avaimeen, ja kaikki sen laitteet poistettiin',
  },
  password: { en: 'The password of your account was changed', fi: 'Tilisi salasana vaihdettiin' },
  'recovery-key': {
    en: 'The recovery key of your account was replaced or removed',
    fi: 'Tilisi palautusavain vaihdettiin tai poistettiin',
  },
  'recovery-key-created': {
    en: 'A recovery key was set up for your account',
    fi: 'Tilillesi otettiin käyttöön palautusavain',
  },
  username: { en: 'The username of your account was changed', fi: 'Tilisi käyttäjänimi vaihdettiin' },
  vault: {
    en: 'The list of whom you have verified was changed',
    fi: 'Varmentamiesi henkilöiden luettelo muuttui',
  },
};

const whatToDo: Sentence = {
  en: 'Was it you? Then there is nothing to do. If not, open the app as you always do, and move on to a new key in the Profile tab, under “After a theft”. A new password alone does not shut out somebody who had the old one.',
  fi: 'Teitkö sen itse? Silloin sinun ei tarvitse tehdä mitään. Jos et, avaa sovellus tavalliseen tapaan, ja siirry uuteen avaimeen Profiili-välilehdellä kohdassa ”Varkauden jälkeen”. Pelkkä uusi salasana ei sulje ulos sitä, jolla oli vanha.',
};
const whatToDoAfterDeletion: Sentence = {
  en: 'Was it you? Then there is nothing to do. If not, write to the person who runs the server.',
  fi: 'Teitkö sen itse? Silloin sinun ei tarvitse tehdä mitään. Jos et, kirjoita palvelimen ylläpitäjälle.',
};
const noLink: Sentence = {
  en: 'This message has no link on purpose. Nobody will ask you for a password or a recovery key by email.',
  fi: 'Tässä viestissä ei tarkoituksella ole linkkiä. Kukaan ei kysy sinulta salasanaa tai palautusavainta sähköpostitse.',
};

/**
 * Says in English and Finnish what was done to an account, because the relay doesn't know which of them the person reads. It
 * holds no link and nothing that whoever made the change has chosen, such as a device's name.
 * @param at milliseconds since the epoch
 */
export function textsOf(
  change: MailedChange,
  username: string,
  at: number,
): { subject: string; text: string } {
  const { en, fi } = sentences[change];
  const advice = change === 'account-deleted' ? whatToDoAfterDeletion : whatToDo;
  const [day = '', time = ''] = new Date(at).toISOString().split('T');
  const name = withoutLinks(username);
  const when = `${day} ${time.slice(0, 5)} UTC`;
  return inBoth(
    { en, fi },
    { en: `${name}: ${en} (${when}).`, fi: `${name}: ${fi} (${when}).` },
    advice,
    noLink,
  );
}

/** Says the code by which an account's owner shows that they read this address. */
export function codeTextsOf(code: string, username: string): { subject: string; text: string } {
  const name = withoutLinks(username);
  return inBoth(
    { en: 'Your code', fi: 'Koodisi' },
    {
      en: `${name} is to have this email address. The code is ${code}. It is good for one hour.`,
      fi: `Tilille ${name} ollaan ottamassa tätä sähköpostiosoitetta. Koodi on ${code}. Se on voimassa tunnin.`,
    },
    {
      en: 'Is this your account? Then open the app as you always do, and type the code in the Profile tab. If not, somebody has typed your address: there is nothing to do. Give the code to nobody.',
      fi: 'Onko tili sinun? Avaa sovellus tavalliseen tapaan, ja kirjoita koodi Profiili-välilehdellä. Jos ei ole, joku on kirjoittanut osoitteesi: sinun ei tarvitse tehdä mitään. Älä anna koodia kenellekään.',
    },
    noLink,
  );
}

/** Says to the owner of an account that somebody wanted its address for another one. @param username of the owner */
export function takenTexts(username: string): { subject: string; text: string } {
  const name = withoutLinks(username);
  return inBoth(
    { en: 'Your email address was typed', fi: 'Sähköpostiosoitteesi kirjoitettiin' },
    {
      en: `${name}: Somebody wanted to use this email address for another account. It stays yours, and nothing has changed.`,
      fi: `${name}: Joku halusi käyttää tätä sähköpostiosoitetta toisella tilillä. Se pysyy sinun, eikä mikään ole muuttunut.`,
    },
    {
      en: 'Was it you? An address belongs to one account at a time: change it there first. If not, there is nothing to do.',
      fi: 'Olitko se sinä? Osoite kuuluu yhdelle tilille kerrallaan: vaihda se ensin siellä. Jos et, sinun ei tarvitse tehdä mitään.',
    },
    noLink,
  );
}

/** Mail programs make a link of what looks like an address, and a thief may have chosen the name. */
const withoutLinks = (username: string) => username.replaceAll('.', ' . ');

const inBoth = (subject: Sentence, ...paragraphs: readonly Sentence[]) => ({
  subject: `${subject.en} / ${subject.fi}`,
  text: [...paragraphs.map(({ en }) => en), '--', ...paragraphs.map(({ fi }) => fi), ''].join('\n\n'),
});
