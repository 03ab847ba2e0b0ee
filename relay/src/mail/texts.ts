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
  // Mail programs make a link of what looks like an address, and a thief may have chosen the name.
  const name = username.replaceAll('.', ' . ');
  const when = `${day} ${time.slice(0, 5)} UTC`;
  return {
    subject: `${en} / ${fi}`,
    text: [
      `${name}: ${en} (${when}).`,
      advice.en,
      noLink.en,
      '--',
      `${name}: ${fi} (${when}).`,
      advice.fi,
      noLink.fi,
      '',
    ].join('\n\n'),
  };
}
