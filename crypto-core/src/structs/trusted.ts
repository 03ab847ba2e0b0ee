// The marks are private members, because `{ ...value }` drops those: a changed copy has to be verified again.
declare class VerifiedMark {
  private readonly ground: 'verified';
}
declare class OwnMark {
  private readonly ground: 'own';
}

/**
 * A value that passed the checks of RFC 9420 for its kind. Only the type tells: at run time it is the value itself.
 */
export type Verified<T> = T & VerifiedMark;

/** A value that this client made, or reads back from its own storage, where nobody else can have put it. */
export type Own<T> = T & OwnMark;
