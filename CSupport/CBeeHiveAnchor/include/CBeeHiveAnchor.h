/* Nothing to call. Link this target into an image whose entries are all written in Swift. Swift can
 * write entries, but neither the note that locates them nor the call that announces them. An image
 * with entries written in C has both already, and this adds no second copy. */
#ifndef CBEEHIVE_ANCHOR_H
#define CBEEHIVE_ANCHOR_H
#endif
