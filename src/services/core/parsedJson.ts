/** Parses what this browser has kept; null for nothing, and for what is no JSON. */
export function parsedJson(json: string | null): unknown {
  try {
    return json === null ? null : JSON.parse(json);
  } catch {
    return null;
  }
}
