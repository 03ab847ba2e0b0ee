/** One connection to SQLite, as far as transactions go. */
export interface TransactionCommands {
  exec(sql: string): void;
  readonly inTransaction: boolean;
}

/** Brings commits to the disk, and hides them from readers until then. */
export interface Durability {
  /** Keeps other connections at the state that is committed now. */
  holdReaders(): void;
  /** Lets them see everything that is committed. Harmless when they are not held. */
  releaseReaders(): void;
  /** Resolves when everything that is committed is on disk. */
  sync(): Promise<void>;
  /** True when it is time for `foldIn`. */
  readonly isLong: boolean;
  /**
   * Copies the log into the database. Called with no transaction open and no reader held, for it to get to
   * its end.
   */
  foldIn(): void;
}

/** A transaction that has ended inside the open group, and waits for the group to be committed. */
interface EndedTransaction {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets the transactions that arrive together share one durable commit: waiting for the disk takes milliseconds, in
 * which a hundred messages could have been stored.
 *
 * SQLite runs one writing transaction at a time, and so does this: each takes its turn, inside a savepoint, so that
 * one that is rolled back takes nothing from its neighbours. The group is committed once what this thread had been
 * asked for is through, and nobody hears of success before it is on disk. Nor does anybody see its rows: other reads go
 * through a connection of their own, which is held at the state before until then. Meanwhile the next group fills.
 */
export class GroupCommit {
  readonly #connection: TransactionCommands;
  readonly #durability: Durability;
  readonly #queue: (() => void)[] = [];
  #members: EndedTransaction[] = [];
  #isTaken = false;
  #isOpen = false;
  #isDue = false;
  /** The error that the last lost group was lost by. */
  #lost: unknown = null;
  #syncing: Promise<void> | null = null;
  /** Why nothing can be written any more. */
  #failure: { readonly error: unknown } | null = null;

  constructor(connection: TransactionCommands, durability: Durability) {
    this.#connection = connection;
    this.#durability = durability;
  }

  /**
   * Waits for a turn, which lasts until `commit` or `rollback`.
   * @throws whatever SQLite says if it can't begin, or said when the disk failed; there is no turn then
   */
  async begin(): Promise<void> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#isTaken = true;
    try {
      if (this.#failure !== null) throw this.#failure.error;
      if (!this.#isOpen) this.#open();
      this.#connection.exec('savepoint member');
    } catch (error) {
      this.#passTurn();
      throw error;
    }
  }

  /**
   * Ends the turn. Resolves once the group is on disk.
   * @throws whatever kept the group from it; then nothing of the transaction is stored
   */
  async commit(): Promise<void> {
    try {
      this.requireOpen();
      this.#connection.exec('release member');
    } catch (error) {
      await this.rollback();
      throw error;
    }
    await this.#endTurn();
  }

  /** Undoes this transaction alone, and ends the turn. Resolves with the group: what it has read may be its neighbours'. */
  async rollback(): Promise<void> {
    try {
      if (this.#isOpen) {
        this.#connection.exec('rollback to member');
        this.#connection.exec('release member');
      }
    } catch (error) {
      this.#lose(error);
    }
    await this.#endTurn().catch(() => undefined);
  }

  /**
   * To be called when a statement has failed. On a full disk and some other errors SQLite has rolled back the whole
   * group by itself; its members hear of it then.
   */
  checkLost(error: unknown): void {
    if (this.#isOpen && !this.#connection.inTransaction) this.#lose(error);
  }

  /** @throws whatever lost the group during this turn: what is written now would be stored on its own */
  requireOpen(): void {
    if (!this.#isOpen) throw this.#lost;
  }

  /** Resolves when no group is open or on its way to the disk. Nothing may begin meanwhile. */
  async settled(): Promise<void> {
    while (this.#failure === null && (this.#isOpen || this.#syncing !== null)) {
      await (this.#syncing ?? new Promise(setImmediate));
    }
  }

  #open(): void {
    this.#connection.exec('begin immediate');
    this.#isOpen = true;
    // After the phase in which this thread hears of calls: all that came together joins this group.
    setImmediate(() => {
      this.#isDue = true;
      if (!this.#isTaken) this.#close();
    });
  }

  #endTurn(): Promise<void> {
    const ended = this.#isOpen
      ? new Promise<void>((resolve, reject) => this.#members.push({ resolve, reject }))
      : Promise.resolve();
    this.#passTurn();
    return ended;
  }

  #passTurn(): void {
    this.#isTaken = false;
    if (this.#isDue) this.#close();
    if (this.#isTaken) return;
    const next = this.#queue.shift();
    // Taken at once, so that nobody comes between.
    this.#isTaken = next !== undefined;
    next?.();
  }

  #close(): void {
    // One group at a time is on its way to the disk. This one stays open, and due.
    if (this.#syncing !== null) return;
    this.#isDue = false;
    if (!this.#isOpen) return;
    try {
      this.#durability.holdReaders();
      this.#connection.exec('commit');
    } catch (error) {
      this.#lose(error);
      this.#durability.releaseReaders();
      return;
    }
    this.#isOpen = false;
    const isLong = this.#durability.isLong;
    // Nobody begins before the log is copied: under load there would always be a transaction in its way.
    if (isLong) this.#isTaken = true;
    this.#syncing = this.#sync(this.#takeMembers(), isLong);
  }

  async #sync(members: readonly EndedTransaction[], isLong: boolean): Promise<void> {
    try {
      await this.#durability.sync();
    } catch (error) {
      // The system may have dropped what it could not write, and would then report the next sync as a success. What
      // is in the log behind that gap would be lost as well: nothing more may be acknowledged by this process.
      this.#failure = { error };
      for (const member of members) member.reject(error);
      this.#lose(error);
      if (isLong) this.#passTurn();
      return;
    }
    this.#syncing = null;
    this.#durability.releaseReaders();
    for (const member of members) member.resolve();
    if (isLong) {
      this.#durability.foldIn();
      this.#passTurn();
    } else if (this.#isDue && !this.#isTaken) {
      this.#close();
    }
  }

  #lose(error: unknown): void {
    this.#isOpen = false;
    this.#lost = error;
    if (this.#connection.inTransaction) this.#connection.exec('rollback');
    for (const member of this.#takeMembers()) member.reject(error);
  }

  #takeMembers(): EndedTransaction[] {
    const members = this.#members;
    this.#members = [];
    return members;
  }
}
