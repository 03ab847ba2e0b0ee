/** Sizes of people's cards in a list, in pixels. */
export const cardColumns = { estimatedHeight: 66, gap: 12, minColumnWidth: 320 } as const;

export const idOf = ({ id }: { readonly id: string }) => id;
