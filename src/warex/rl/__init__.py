"""Reinforcement learning on a flaky web: episodes, rewards and a curriculum for any trainer."""

from warex.rl.curriculum import Curriculum as Curriculum
from warex.rl.curriculum import EpisodePlan as EpisodePlan
from warex.rl.curriculum import ScoredEpisode as ScoredEpisode
from warex.rl.curriculum import advantages as advantages
from warex.rl.factory import SessionFactory as SessionFactory
from warex.rl.session import Episode as Episode
from warex.rl.session import EpisodeTask as EpisodeTask
from warex.rl.session import Session as Session
from warex.rl.session import Verification as Verification
from warex.rl.training_trace import TrainingTrace as TrainingTrace
from warex.rl.training_trace import TrainingTurn as TrainingTurn
