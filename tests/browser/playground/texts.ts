// Texts that the playground shows.

/** The call of a tool and its response, in one line that opens to both. */
export const TOOL_LINE =
  'hostremember_tastetaste: mildcalled with{"taste":"mild"}returned{"kept":"mild"}';
