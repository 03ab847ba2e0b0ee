interface Pattern {
  readonly message: string;
}

/** Rows of the linter's `overrides`. */
export declare const doors: readonly {
  readonly files: readonly string[];
  readonly patterns: readonly Pattern[];
}[];
