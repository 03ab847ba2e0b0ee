/** The part of Web Locks that is used: one holder at a time for a name, across all tabs of this origin. */
export interface Locks {
  request<T>(name: string, task: () => Promise<T>): Promise<T>;
}
