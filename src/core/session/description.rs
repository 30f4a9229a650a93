//! The title, the labels, the parent and the initial state of a session.

/// A session's title, labels, parent and initial state. No rule looks at them.
///
/// As a change, `None` leaves a member as it is, and an empty text removes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// The title, if there is one.
    pub title: Option<String>,
    /// The labels, if there are any: the text of a JSON object.
    pub labels: Option<String>,
    /// Where the session was forked from: the text of a JSON object with its `sessionId` and the
    /// `eventId` of the last event that both have. Only a new session gets one.
    pub parent: Option<String>,
    /// The keys of its own that the session was created with: the text of a JSON object. The storage
    /// keeps it unchanged. It is `None` for sessions that others created.
    pub initial_state: Option<String>,
    /// Only in a change: the title for a session that has none.
    pub first_title: Option<String>,
}

impl Description {
    /// Applies a change.
    pub fn apply(&mut self, change: Self) {
        let members = [
            (&mut self.title, change.title),
            (&mut self.labels, change.labels),
            (&mut self.parent, change.parent),
            (&mut self.initial_state, change.initial_state),
        ];
        for (member, new) in members {
            if let Some(new) = new {
                *member = Some(new).filter(|new| !new.is_empty());
            }
        }
        self.title = self.title.take().or(change.first_title);
    }
}
