/** One connection to SQLite, as far as transactions go. */
export interface TransactionCommands {
  exec(sql: string): void;
  readonly inTransaction: boolean;
}

/** A transaction that has ended inside the open group, and waits for the group to be committed. */
interface Member {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets the transactions that arrive together share one durable commit. A commit with synchronous=FULL waits for the
 * disk, milliseconds in which a hundred messages could have been stored.
 *
 * SQLite runs one writing transaction at a time, and so does this: each takes its turn, inside a savepoint, so that
 * one that is rolled back takes nothing from its neighbours. The group is committed once what the event loop had
 * received is through, and nobody hears of success before that. Nor does anybody see its rows: other reads go through
 * a connection of their own, which knows only what has been committed.
 */
export class GroupCommit {
  readonly #connection: TransactionCommands;
  readonly #queue: (() => void)[] = [];
  #members: Member[] = [];
  #isTaken = false;
  #isOpen = false;
  #isDue = false;

  constructor(connection: TransactionCommands) {
    this.#connection = connection;
  }

  /**
   * Waits for a turn, which lasts until `commit` or `rollback`.
   * @throws whatever SQLite says if it can't begin; there is no turn then
   */
  async begin(): Promise<void> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#isTaken = true;
    try {
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

  /** @throws Error if the group was lost during this turn: what is written now would be stored on its own */
  requireOpen(): void {
    if (!this.#isOpen) throw new Error('The transaction has been rolled back.');
  }

  #open(): void {
    this.#connection.exec('begin immediate');
    this.#isOpen = true;
    // After the event loop's poll phase, in which the sockets are read: all that came with them joins this group.
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
    const next = this.#queue.shift();
    // Taken at once, so that nobody comes between.
    this.#isTaken = next !== undefined;
    next?.();
  }

  #close(): void {
    this.#isDue = false;
    if (!this.#isOpen) return;
    try {
      this.#connection.exec('commit');
    } catch (error) {
      return this.#lose(error);
    }
    this.#isOpen = false;
    for (const member of this.#takeMembers()) member.resolve();
  }

  #lose(error: unknown): void {
    this.#isOpen = false;
    if (this.#connection.inTransaction) this.#connection.exec('rollback');
    for (const member of this.#takeMembers()) member.reject(error);
  }

  #takeMembers(): Member[] {
    const members = this.#members;
    this.#members = [];
    return members;
  }
}
